import { execFileSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode } from "./until.ts";

/** The places inside a data folder; all are absolute paths without symbolic links. */
export interface DataFolder {
  root: string;
  /** The cluster, PostgreSQL's own folder. */
  cluster: string;
  /** Held locked while somebody starts, joins or stops the database. */
  lock: string;
  /** A FIFO that every holder keeps open for writing. */
  hold: string;
  /** Where the guardian acknowledges an arriving holder. */
  arrivals: string;
  password: string;
  /** The port of the latest start. */
  port: string;
  log: string;
}

/**
 * Makes the data folder (mode 0700) and the files in it that holders share, where they are
 * missing.
 */
export function openDataFolder(path: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const root = realpathSync(path);
  const folder: DataFolder = {
    root,
    cluster: join(root, "postgres"),
    lock: join(root, "lock"),
    hold: join(root, "hold"),
    arrivals: join(root, "arrivals"),
    password: join(root, "password"),
    port: join(root, "port"),
    log: join(root, "postgres.log"),
  };
  for (const file of [folder.lock, folder.arrivals, folder.password, folder.port, folder.log]) {
    makeFile(folder, file);
  }
  return folder;
}

/** Makes the FIFO if there is none. Call it under the folder's lock. */
export function makeFifo(folder: DataFolder): void {
  const found = lstatSync(folder.hold, { throwIfNoEntry: false });
  if (found?.isFIFO()) return;
  if (found) throw new Error(`${folder.hold} is in the way of our FIFO; remove it`);
  execFileSync("mkfifo", ["-m", "600", folder.hold], { stdio: "pipe" });
  giveToFolderOwner(folder, folder.hold);
}

/** Makes what was written to a file, or the names in a folder, survive a power cut. */
export function syncToDisk(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Never opens a file that exists: the lock file's locks are POSIX locks, which a process loses
 * as soon as it closes any descriptor of the file.
 */
function makeFile(folder: DataFolder, file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw error;
  }
  giveToFolderOwner(folder, file);
}

/** So that one command under sudo does not lock a folder's owner out afterwards. */
function giveToFolderOwner(folder: DataFolder, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder.root);
  chownSync(file, uid, gid);
}
