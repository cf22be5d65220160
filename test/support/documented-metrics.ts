import { readFile } from "node:fs/promises";
import { join } from "node:path";

const GUIDE = join(import.meta.dirname, "../../src/docs/operations.md");

/** The names of the metrics that the operations guide lists, sorted. */
export async function documentedMetrics(): Promise<string[]> {
  const guide = await readFile(GUIDE, "utf8");
  const [section] = /\n### Metrics\n.*?\n###? /s.exec(guide) ?? [""];
  const firstCells = section.matchAll(/^\|([^|]*)\|/gm).map(([, cell]) => cell!);
  const names = [...firstCells].flatMap((cell) => cell.match(/(?<=`)[a-z_0-9]+(?=`)/g) ?? []);
  return names.toSorted();
}
