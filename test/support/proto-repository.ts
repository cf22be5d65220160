import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const IDENTITY = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];

/**
 * Creates a Git repository with the working tree's definitions on the branch `main`, tagged `v0.1.0`.
 *
 * @param folder folder to create
 * @returns the repository's URL
 */
export function makeProtoRepository(folder: string): string {
  for (const name of ["proto", "buf.yaml"]) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  const git = (...args: string[]) => execFileSync("git", [...IDENTITY, ...args], { cwd: folder });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message", "Release");
  git("tag", "v0.1.0");
  return pathToFileURL(join(folder, ".git")).href;
}
