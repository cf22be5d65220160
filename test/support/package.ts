import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";

/** What the package is made of, or by. */
const SOURCES = [
  "package.json",
  "*.md",
  "LICENSE",
  "tsconfig.json",
  "buf.yaml",
  "gen",
  "proto",
  "src",
];

/** What a release publishes beside what is generated and built. */
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

/** Whether a file of the package is a definition or a guide, or is generated or built. */
export function isDefinedOrBuilt(file: string): boolean {
  return /^(gen|proto|src\/docs|src\/(client\/|dashboard\/|docs-pages\/)?built)\//.test(file);
}

/** The environment of somebody who has npm and the Node that came with it, and nothing else of ours. */
export const NEWCOMER: NodeJS.ProcessEnv = {
  HOME: process.env["HOME"],
  PATH: process.env["PATH"]!.split(delimiter)
    .filter((it) => !it.includes("node_modules"))
    .join(delimiter),
  npm_config_prefer_offline: "true",
};

/** Runs a program to its successful end. */
export const run = promisify(execFile);

/**
 * Makes the tarball of a release in a folder: from a copy, so that nothing is built anew from which others run.
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
