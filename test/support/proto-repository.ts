import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const IDENTITY = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];

/**
 * Creates a Git repository with the definitions of the working tree, on the branch `main` with the tag `v0.1.0`.
 *
 * @param folder created by this function
 * @returns the URL of the repository
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
