import { readFile } from "node:fs/promises";
import { join } from "node:path";

const GUIDE = join(import.meta.dirname, "../../src/docs/operations.md");

/** Returns the sorted metric names in the operations guide. */
export async function documentedMetrics(): Promise<string[]> {
  const guide = await readFile(GUIDE, "utf8");
  const [section] = /\n### Metrics\n.*?\n###? /s.exec(guide) ?? [""];
  const names = section.match(/(?<=`)(shipments|process|nodejs)_[a-z0-9_{},]+(?=`)/g) ?? [];
  return names.flatMap(expandBraces).toSorted();
}

/** Expands braces as a shell does: `a_{b,c}` to `a_b` and `a_c`. */
function expandBraces(name: string): string[] {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  if (choices === undefined) return [name];
  return choices.split(",").flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}
