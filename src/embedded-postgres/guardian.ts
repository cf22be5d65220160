import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeSync,
} from "node:fs";
import type { Account } from "./account.ts";
import { POSTGRES_ENVIRONMENT } from "./binaries.ts";
import type { DataFolder } from "./data-folder.ts";
import { isAlive } from "./processes.ts";
import { errorCode, until } from "./until.ts";

/** One process's share in keeping the database up. */
export interface Hold {
  /** The FIFO, open for writing: while anybody has it open, the guardian keeps the database. */
  fd: number;
  guardianPid: number;
}

/** Seconds, one try in each, before the guardian resorts to an immediate shutdown. */
const FAST_STOP_TRIES = 20;

/** Fails with ENXIO instead of waiting when nobody reads. */
const WRITE_AT_ONCE = constants.O_WRONLY | constants.O_NONBLOCK;
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** The guardian ignores it; writing it fails with EPIPE when there is none. */
const BLANK_LINE = "\n";

/**
 * The guardian: starts PostgreSQL, and stops it when nobody has the FIFO open for writing any
 * more. The kernel closes the descriptors of a process however it dies, so this holds after
 * `kill -9` too, and no Node process has to live on for it.
 *
 * Input is the FIFO, descriptor 3 the file where arrivals are acknowledged; neither may be left
 * open in PostgreSQL, nor the FIFO in the waiting shell, or newcomers could not tell a guardian
 * that listens from one that does not. SIGINT (fast shutdown) is repeated because a shell's
 * background process ignores it until it has set its own handlers. At the end the guardian ends
 * and reaps its listener, and that its sleep: a container's first process may reap nobody.
 */
const GUARDIAN = `
exec 4<&0 </dev/null
"$@" 3>&- 4<&- &
postgres=$!
(
  while read -r arrival <&4; do
    if [ -n "$arrival" ]; then echo "$arrival $$" >&3; fi
  done
  exec 4<&-
  trap 'wait; exit' TERM
  tries=0
  while [ $tries -lt ${FAST_STOP_TRIES} ] && kill -INT $postgres; do
    tries=$((tries + 1))
    sleep 1 &
    wait $!
  done
  kill -QUIT $postgres
) 2>/dev/null &
exec 3>&- 4<&-
wait $postgres
trap '' TERM
kill -TERM 0
wait
`;

/**
 * Joins the guardian that is there. Call it under the folder's lock.
 *
 * @param deadline epoch milliseconds
 * @returns undefined when there is none, or when it was stopping
 */
export async function joinGuardian(
  folder: DataFolder,
  deadline: number,
): Promise<Hold | undefined> {
  try {
    const fd = openSync(folder.hold, WRITE_AT_ONCE);
    return await untilAcknowledged(folder, fd, deadline);
  } catch (error) {
    if (errorCode(error) === "ENXIO") return undefined;
    throw error;
  }
}

/**
 * Starts a guardian with `command` as its PostgreSQL, working in the cluster's folder. Call it
 * under the folder's lock, when no guardian is there.
 *
 * @param deadline epoch milliseconds
 * @returns undefined when PostgreSQL ended before the guardian had acknowledged us
 */
export async function startGuardian(
  folder: DataFolder,
  command: string[],
  account: Account | undefined,
  deadline: number,
): Promise<Hold | undefined> {
  // Opened here: the guardian's account may not be able to reach these files by their paths.
  const reading = openSync(folder.hold, READ_AT_ONCE);
  const writing = openSync(folder.hold, WRITE_AT_ONCE);
  const log = openSync(folder.log, constants.O_WRONLY | constants.O_TRUNC | constants.O_APPEND);
  const arrivals = openSync(folder.arrivals, constants.O_WRONLY | constants.O_APPEND);
  try {
    const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "shipments-guardian", ...command], {
      ...account,
      cwd: folder.cluster,
      env: POSTGRES_ENVIRONMENT,
      stdio: [reading, log, log, arrivals],
      // A session of its own: Ctrl-C in our terminal must not reach the database.
      detached: true,
    });
    guardian.on("error", (error) => appendFileSync(folder.log, `${error}\n`));
    guardian.unref();
  } finally {
    for (const fd of [reading, log, arrivals]) closeSync(fd);
  }
  return untilAcknowledged(folder, writing, deadline);
}

/** Whether a guardian still reads what holders write. */
export function isGuarded(hold: Hold): boolean {
  try {
    writeSync(hold.fd, BLANK_LINE);
    return true;
  } catch (error) {
    if (errorCode(error) === "EPIPE") return false;
    throw error;
  }
}

/** Lets go. The guardian stops the database if this was the last hold. */
export function letGo(hold: Hold): void {
  closeSync(hold.fd);
}

/** Waits until the guardian, and with it the PostgreSQL it started, is gone. */
export async function untilGuardianGone(hold: Hold, deadline: number): Promise<void> {
  await until("PostgreSQL to stop", deadline, () => !isAlive(hold.guardianPid));
}

/**
 * Whether nobody holds the database: reading a FIFO that has no writer gives its end, otherwise
 * EAGAIN. Call it under the folder's lock, since a newcomer would take us for the guardian.
 */
export function nobodyHolds(folder: DataFolder): boolean {
  const fd = openSync(folder.hold, READ_AT_ONCE);
  try {
    const ignored = Buffer.alloc(4096);
    while (readSync(fd, ignored) > 0);
    return true;
  } catch (error) {
    if (errorCode(error) === "EAGAIN") return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Having opened the FIFO proves nothing: the guardian may have seen its end a moment before.
 * Only one that goes on reading acknowledges what we write, and keeps the database from then on.
 */
async function untilAcknowledged(
  folder: DataFolder,
  fd: number,
  deadline: number,
): Promise<Hold | undefined> {
  const arrival = randomUUID();
  const acknowledged = new RegExp(`^${arrival} (\\d+)$`, "m");
  try {
    truncateSync(folder.arrivals);
    writeSync(fd, `${arrival}\n`);
    return await until("the database's guardian to answer", deadline, () => {
      const answer = acknowledged.exec(readFileSync(folder.arrivals, "utf8"));
      if (answer) return { fd, guardianPid: Number(answer[1]) };
      writeSync(fd, BLANK_LINE);
      return undefined;
    });
  } catch (error) {
    closeSync(fd);
    if (errorCode(error) === "EPIPE") return undefined;
    throw error;
  }
}
