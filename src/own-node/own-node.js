import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/**
 * Folder into which an installed package installs its Node. It is not a dependency, because npm would put its `node` on
 * the path of the npm scripts of everyone who installs the package.
 */
const FOLDER = fileURLToPath(new URL("installed", import.meta.url));

/**
 * Returns the path of the Node that `package.json` specifies for this system. A clone has it after `npm ci`. An
 * installed package installs it when it is first needed.
 *
 * @throws Error with a message for the operator if npm cannot install it
 */
export function findOwnNode() {
  const system = `${process.platform}-${process.arch}`;
  const { optionalDependencies } = require("./package.json");
  const name = Object.keys(optionalDependencies).find((it) => it.endsWith(`-${system}`));
  if (name === undefined) throw new Error(`no npm package has it for ${system}: install Node`);
  try {
    return require.resolve(`${name}/bin/node`);
  } catch {
    const program = `${FOLDER}/node_modules/${name}/bin/node`;
    if (!existsSync(program)) installOwnNode(`${name}@${optionalDependencies[name]}`);
    return program;
  }
}

function installOwnNode(wanted) {
  process.stderr.write(`Installing ${wanted} into ${FOLDER}. This happens once.\n`);
  const options = ["--no-save", "--ignore-scripts", "--no-bin-links", "--no-audit", "--no-fund"];
  const { status, stderr, error } = spawnSync(
    "npm",
    ["install", wanted, `--prefix=${FOLDER}`, "--loglevel=error", ...options],
    { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
  );
  if (status === 0) return;
  const reason = error?.message ?? stderr.trim();
  throw new Error(`npm cannot install it into ${FOLDER}: install Node yourself.\n${reason}`);
}

/** Runs the command of this process again with another Node, and exits with its exit code. Signals are forwarded. */
export async function runAgain(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
  const [code, signal] = await once(child, "exit");
  process.exit(code ?? 128 + constants.signals[signal]);
}
