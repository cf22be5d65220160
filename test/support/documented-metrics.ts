import { readFile } from "node:fs/promises";
import { join } from "node:path";

const GUIDE = join(import.meta.dirname, "../../src/docs/operations.md");

/** The names of the metrics that the operations guide lists, sorted. */
export async function documentedMetrics(): Promise<string[]> {
  const guide = await readFile(GUIDE, "utf8");
  const [section] = /\n### Metrics\n.*?\n###? /s.exec(guide) ?? [""];
  const names = section.match(/(?<=`)(shipments|process|nodejs)_[a-z0-9_{},]+(?=`)/g) ?? [];
  return names.flatMap(expandBraces).toSorted();
}

/** The names that one stands for, as a shell has it: `a_{b,c}` for `a_b` and `a_c`. */
function expandBraces(name: string): string[] {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  if (choices === undefined) return [name];
  return choices.split(",").flatMap((choice) => expandBraces(`${before}${choice}${after}`));
}
