import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the environment variables that the guides list. */
export function documentedVariables(): string[] {
  const names = readdirSync("src/docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(join("src/docs", name), "utf8"))
    .flatMap((guide) => [...guide.matchAll(/^(?:\||-) `([A-Z][A-Z0-9_]*)`/gm)].map(([, name]) => name!));
  return [...new Set(names)];
}
