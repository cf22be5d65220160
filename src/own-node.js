import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/**
 * The Node that npm has installed beside this program, as an optional package for this system.
 *
 * @throws Error with a sentence for whoever runs it, where there is none
 */
export function findOwnNode() {
  const system = `${process.platform}-${process.arch}`;
  const { optionalDependencies } = require("../package.json");
  const name = Object.keys(optionalDependencies).find((it) => it.endsWith(`-${system}`));
  if (name === undefined) throw new Error(`no npm package brings it for ${system}: install it`);
  try {
    return require.resolve(`${name}/bin/node`);
  } catch (cause) {
    const remedy = "set npm_config_include=optional and install again, or install Node itself";
    throw new Error(`npm left out the optional package ${name}: ${remedy}`, { cause });
  }
}

/**
 * Runs the command of this process again by another Node, and ends this process as that one ends. What ends this
 * process ends that one.
 */
export async function runAgain(node) {
  const program = fileURLToPath(new URL("cli.js", import.meta.url));
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
  const [code, signal] = await once(child, "exit");
  process.exit(code ?? 128 + constants.signals[signal]);
}
