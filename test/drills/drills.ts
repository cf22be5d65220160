/**
 * Runs the drills, separate programs named `<name>.drill.ts`, one after the other. `npm run drills`
 * runs all, `npm run drills -- <name>...` the named ones. Fails if any drill fails.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const SUFFIX = ".drill.ts";
const requested = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .filter((name) => requested.length === 0 || requested.includes(name));
if (names.length === 0) throw new Error(`no such drill: ${requested.join(", ")}`);

const failed: string[] = [];
for (const name of names) {
  process.stdout.write(`\n${name}\n`);
  const child = spawn(process.execPath, [join(import.meta.dirname, name + SUFFIX)], {
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) failed.push(name);
}
process.stdout.write(failed.length === 0 ? "\nAll drills passed.\n" : `\nFailed: ${failed.join(", ")}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
