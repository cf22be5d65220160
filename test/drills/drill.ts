import { join } from "node:path";

export const SAMPLE_TARIFF = join(import.meta.dirname, "../../src/demo/sample-tariff.json");

/** Prints a measurement, and fails the drill if the guarantee is not met. */
export function expect(promise: string, isKept: boolean, seen: string): void {
  process.stdout.write(`  ${isKept ? "kept  " : "BROKEN"} ${promise}: ${seen}\n`);
  if (!isKept) process.exitCode = 1;
}
