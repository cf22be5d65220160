import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** The places inside a data folder; all are absolute paths without symbolic links. */
export interface DataFolder {
  root: string;
  /** The cluster, PostgreSQL's own folder. */
  cluster: string;
  password: string;
  log: string;
}

/** Makes the data folder (mode 0700) if it is missing. */
export function openDataFolder(path: string): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const root = realpathSync(path);
  const [cluster, password, log] = ["postgres", "password", "postgres.log"];
  return {
    root,
    cluster: join(root, cluster),
    password: join(root, password),
    log: join(root, log),
  };
}
