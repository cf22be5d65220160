import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { BASELINE } from "../../src/db/migration-list.ts";
import { startProcess, type Environment, type Running } from "./command.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

/**
 * The first commit from which upgrades are supported. It counts as the last release until a tag
 * such as `v1.2.3` exists.
 */
export const FIRST_RELEASE = commitThatAdded(`src/db/migrations/${BASELINE}.ts`);

function commitThatAdded(path: string): string {
  const args = ["log", "-1", "--diff-filter=A", "--format=%H", "--", path];
  return spawnSync("git", args, { encoding: "utf8" }).stdout.trim();
}

/** Code of the last release, checked out into a separate folder. */
export interface Release {
  /** Tag or commit. */
  readonly name: string;
  /** Starts `shipments <args>` of that release. The test kills it at its end. */
  start(args: readonly string[], environment: Environment): Running;
  remove(): void;
}

/** Returns the last release tag before the current commit, or the first supported commit. */
export function nameOfLastRelease(repository = "."): string {
  // v1.0.0-rc.1 sorts before v1.0.0.
  const order = ["-c", "versionsort.suffix=-", "tag", "--sort=-version:refname"];
  const between = ["--merged", "HEAD^", "--contains", FIRST_RELEASE];
  const { stdout } = spawnSync("git", [...order, ...between, "--list", "v[0-9]*"], {
    cwd: repository,
    encoding: "utf8",
  });
  const [last = ""] = stdout.split("\n");
  return last === "" ? FIRST_RELEASE : last;
}

/** Whether the repository contains this version. Shallow clones and archives do not. */
export function hasCode(name: string): boolean {
  return spawnSync("git", ["cat-file", "-e", `${name}^{commit}`]).status === 0;
}

/** Checks out a release and links or installs its packages. */
export function checkOut(name: string): Release {
  const folder = makeTemporaryFolder("release");
  const archive = execFileSync("git", ["archive", name], { maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const { dependencies, devDependencies } = manifestIn(folder);
  if (installed({ ...devDependencies, ...dependencies }))
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  else {
    const args = ["ci", "--ignore-scripts", "--prefer-offline"];
    execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
  }
  return {
    name,
    start: (args, environment) =>
      startProcess(process.execPath, ["src/commands/program.ts", ...args], environment, {
        cwd: folder,
      }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies: Versions;
  /** Packages needed to build the program. */
  readonly devDependencies: Versions;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Whether this repository has exactly these package versions installed. */
function installed(dependencies: Versions): boolean {
  const versionOf = (name: string): string | undefined => {
    try {
      const manifest = readFileSync(join("node_modules", name, "package.json"), "utf8");
      return (JSON.parse(manifest) as { version: string }).version;
    } catch {
      return undefined;
    }
  };
  return Object.entries(dependencies).every(([name, version]) => versionOf(name) === version);
}
