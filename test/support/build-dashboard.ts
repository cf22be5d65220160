import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const FOLDER = fileURLToPath(new URL("../../src/dashboard", import.meta.url));
const BUILT = "built";

/** Builds the dashboard if one of its sources is newer than what was built last. */
export async function buildDashboard(): Promise<void> {
  const index = join(FOLDER, BUILT, "index.html");
  const builtMs = existsSync(index) ? statSync(index).mtimeMs : 0;
  const sources = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
  const isNew = (name: string) =>
    !name.startsWith(BUILT) && statSync(join(FOLDER, name)).mtimeMs > builtMs;
  if (sources.some(isNew)) await build({ root: FOLDER, mode: "production" });
}
