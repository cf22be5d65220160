import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTemporaryFolder } from "./support/temporary-folder.ts";

/** Files in the repository that npm reads during an installation. */
const READ_BY_NPM = [
  "package.json",
  "package-lock.json",
  ".npmrc",
  "src/courier/package.json",
  "src/dashboard/package.json",
  "src/docs-pages/package.json",
  "src/own-node/package.json",
];

interface LockedPackage {
  /** Name of the package, if it differs from the path. */
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
}

const locked = Object.entries(
  (JSON.parse(readFileSync("package-lock.json", "utf8")) as Record<string, object>).packages as Record<
    string,
    LockedPackage
  >,
).filter(([path, it]) => path.startsWith("node_modules/") && !("link" in it));

test("every installed package for any system has its hash in the lock file", () => {
  expect(locked.filter(([, it]) => it.integrity === undefined)).toEqual([]);
});

test("the lock file contains the Node version that runs the service, and no install script downloads it", () => {
  const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const { optionalDependencies } = JSON.parse(readFileSync("src/own-node/package.json", "utf8"));
  const versions = Object.keys(optionalDependencies).map(
    (name) => locked.find(([path]) => path === `node_modules/${name}`)?.[1].version,
  );
  expect(new Set(versions)).toEqual(new Set([process.versions.node]));
  expect(locked.map(([path]) => path)).not.toContain("node_modules/node");
  expect(allowScripts).not.toHaveProperty("node");
});

test("a package that reports installs to its vendor is not installed", () => {
  const names = locked.map(([path, it]) => it.name ?? path.split("node_modules/").at(-1));
  expect(names).not.toContain("@scarf/scarf");
});

test("npm ci prints no warning with the machine's own Node", () => {
  const folder = makeTemporaryFolder("install");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of READ_BY_NPM) cpSync(name, join(folder, name));
  const { HOME, PATH = "" } = process.env;
  const ofTheMachine = PATH.split(delimiter).filter((it) => !it.includes("node_modules"));
  const { status, stderr } = spawnSync("npm", ["ci", "--dry-run", "--ignore-scripts"], {
    cwd: folder,
    env: { HOME, PATH: ofTheMachine.join(delimiter) },
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
