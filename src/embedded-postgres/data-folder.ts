import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "./attempt.ts";

/** Paths inside a data folder, absolute and without symbolic links. */
export interface DataFolder {
  root: string;
  cluster: string;
  password: string;
  log: string;
}

export function openDataFolder(path: string): DataFolder {
  makeFolder(resolve(path));
  const root = realpathSync(path);
  const inside = (name: string) => join(root, name);
  return {
    root,
    cluster: inside("postgres"),
    password: inside("password"),
    log: inside("postgres.log"),
  };
}

/**
 * Creates a folder. Node's recursive mkdir is unsuitable, because it never returns if folders cannot be
 * created, for example in /proc.
 */
function makeFolder(path: string): void {
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  attempt(() => mkdirSync(path, 0o700), "EEXIST");
}
