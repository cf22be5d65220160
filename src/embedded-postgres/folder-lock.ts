import { DatabaseSync } from "node:sqlite";
import type { DataFolder } from "./data-folder.ts";
import { until } from "./until.ts";

/** SQLITE_BUSY, https://sqlite.org/rescode.html#busy */
const BUSY = 5;

/**
 * Does `work` while no other process does its own on the same data folder.
 *
 * The lock has to vanish with its owner, however that dies. The kernel's file locks do; Node
 * gives access to them only through the SQLite it comes with. Nothing is ever stored there.
 *
 * @param deadline epoch milliseconds until which to wait for the lock
 */
export async function withFolderLock<T>(
  folder: DataFolder,
  deadline: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = new DatabaseSync(folder.lock, { timeout: 0 });
  try {
    await until(`another process to let go of ${folder.lock}`, deadline, () => tryLock(lock));
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === BUSY) return false;
    throw error;
  }
}
