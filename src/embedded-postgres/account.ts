import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";

/** Whom PostgreSQL's processes run as. */
export interface Account {
  uid: number;
  gid: number;
}

const OWN_ACCOUNT = "shipment-booking";

/**
 * The account to run PostgreSQL as, which refuses to run as root: undefined, meaning ourselves,
 * unless we are root. A cluster that exists stays with its owner; a new one goes to the account
 * `postgres`, else to one of our own, made if the system lets us, else to `nobody`.
 */
export function accountFor(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== "linux") {
    throw new Error("PostgreSQL does not run as root: use an ordinary account, or DATABASE_URL");
  }
  const account =
    ownerOf(cluster) ??
    findAccount("postgres") ??
    findAccount(OWN_ACCOUNT) ??
    makeAccount() ??
    findAccount("nobody");
  if (account) return account;
  throw new Error("PostgreSQL does not run as root, and there is no other account to run it as");
}

function ownerOf(cluster: string): Account | undefined {
  const found = statSync(cluster, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

function findAccount(name: string): Account | undefined {
  const uid = outputOf("id", "-u", name);
  const gid = outputOf("id", "-g", name);
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** `useradd` is Linux's, `adduser` in this form BusyBox's; an image may have either or neither. */
function makeAccount(): Account | undefined {
  const noLogin = ["-s", "/usr/sbin/nologin"];
  outputOf("useradd", "--system", "--user-group", "--no-create-home", ...noLogin, OWN_ACCOUNT);
  const account = findAccount(OWN_ACCOUNT);
  if (account) return account;
  outputOf("adduser", "-S", "-D", "-H", ...noLogin, OWN_ACCOUNT);
  return findAccount(OWN_ACCOUNT);
}

/** What a command prints; undefined when it does not exist or fails. */
function outputOf(command: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}
