import { readFileSync } from "node:fs";

/** The environment variables that the operations guide lists, which are all that there are. */
export function documentedVariables(): string[] {
  const guide = readFileSync("src/docs/operations.md", "utf8");
  return [...guide.matchAll(/^\| `([A-Z][A-Z_]*)` /gm)].map(([, name]) => name!);
}
