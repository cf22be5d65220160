#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

/** Oldest major version of Node that the program is tested on. */
const NODE = 26;

if (Number.parseInt(process.versions.node, 10) < NODE) {
  const { findOwnNode, runAgain } = await import("./own-node/own-node.js");
  try {
    await runAgain(findOwnNode());
  } catch ({ message }) {
    process.stderr.write(`Node ${NODE} is needed, this is ${process.version}; ${message}\n`);
    process.exit(1);
  }
}
// Before anything else is loaded, since loading is most of a start and half of it is compiling. This
// file is not in TypeScript, for Node's compiler, which takes 8 MiB and is kept, would be loaded for it
// alone.
module.enableCompileCache();
const built = new URL("built/program.js", import.meta.url);
const isBuilt = existsSync(built);
if (!isBuilt) {
  process.stderr.write("Nothing is built: the sources run. To build them: npm run build\n");
}
const { runProgram } = await import(
  isBuilt ? built.href : new URL("commands/program.ts", import.meta.url).href
);
await runProgram(process.argv);
