import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";

/** Sources from which the package is built. */
const SOURCES = ["package.json", "*.md", "LICENSE", "tsconfig.json", "buf.yaml", "gen", "proto", "src"];

/** Files in a release besides generated and built ones. */
export const PACKED = [
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
  "package.json",
  "src/bin.js",
  "src/cli.js",
  "src/demo/sample-tariff.json",
  "src/deploy/probe.js",
  "src/own-node/own-node.js",
  "src/own-node/package.json",
];

/** Whether a file in the package is a definition, a guide, generated or built. */
export function isDefinedOrBuilt(file: string): boolean {
  return /^(gen|proto|src\/docs|src\/(client\/|courier\/|dashboard\/|docs-pages\/)?built)\//.test(file);
}

/** Environment of a user who has only npm and its Node. */
export const NEWCOMER: NodeJS.ProcessEnv = {
  HOME: process.env["HOME"],
  PATH: process.env["PATH"]!.split(delimiter)
    .filter((it) => !it.includes("node_modules"))
    .join(delimiter),
  npm_config_prefer_offline: "true",
};

/** Runs a program that must succeed. */
export const run = promisify(execFile);

/**
 * Creates a release tarball in a folder. Builds in a copy, so that the current build stays untouched.
 *
 * @returns the tarball's path
 */
export async function packInto(folder: string): Promise<string> {
  const clone = join(folder, "clone");
  mkdirSync(clone);
  for (const path of globSync(SOURCES)) {
    cpSync(path, join(clone, path), { recursive: true, filter: (it) => !it.endsWith("/built") });
  }
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: clone,
    env: NEWCOMER,
  });
  return join(folder, stdout.trim().split("\n").at(-1)!);
}
