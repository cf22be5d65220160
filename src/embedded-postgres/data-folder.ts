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

/** Node's recursive mkdir never returns where folders cannot be created, such as in /proc. */
function makeFolder(path: string): void {
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  attempt(() => mkdirSync(path, 0o700), "EEXIST");
}
