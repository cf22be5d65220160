import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import type { DataFolder } from "./data-folder.ts";

export interface Account {
  uid: number;
  gid: number;
}

const OWN_ACCOUNT = "shipment-booking";

/**
 * Returns the account that runs PostgreSQL, which refuses to run as root. Returns `undefined`, which
 * means the current account, unless that is root. For root, returns the owner of the cluster or folder,
 * the account `postgres`, a newly created account, or `nobody`.
 */
export function accountFor({ cluster, root }: Pick<DataFolder, "cluster" | "root">): Account | undefined {
  if (process.getuid === undefined) throw new Error("it needs Linux or macOS; set DATABASE_URL");
  if (process.getuid() !== 0) return undefined;
  const owner = ownerOf(cluster) ?? ownerOf(root) ?? findAccount("postgres");
  const account = owner ?? findAccount(OWN_ACCOUNT) ?? makeAccount() ?? findAccount("nobody");
  if (account && process.platform === "linux") return account;
  throw new Error("PostgreSQL does not run as root: use another account, or set DATABASE_URL");
}

function ownerOf(folder: string): Account | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

function findAccount(name: string): Account | undefined {
  const line = readFileSync("/etc/passwd", "utf8").match(`(?:^|\n)${name}:[^:]*:(\\d+):(\\d+):`);
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined;
}

/** Creates an account with Linux's `useradd` or BusyBox's `adduser`. An image may have either or neither. */
function makeAccount(): Account | undefined {
  const noLogin = ["-s", "/usr/sbin/nologin", OWN_ACCOUNT];
  spawnSync("useradd", ["--system", "--user-group", "--no-create-home", ...noLogin]);
  if (!findAccount(OWN_ACCOUNT)) spawnSync("adduser", ["-S", "-D", "-H", ...noLogin]);
  return findAccount(OWN_ACCOUNT);
}
