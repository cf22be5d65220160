import { join } from "node:path";

export const SAMPLE_TARIFF = join(import.meta.dirname, "../../src/demo/sample-tariff.json");

/** Says what was seen, and has the drill fail unless it was as promised. */
export function expect(promise: string, isKept: boolean, seen: string): void {
  process.stdout.write(`  ${isKept ? "kept  " : "BROKEN"} ${promise}: ${seen}\n`);
  if (!isKept) process.exitCode = 1;
}
