#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

/** Oldest major version of Node that is tested. */
const NODE = 26;

if (Number.parseInt(process.versions.node, 10) < NODE) {
  const { findOwnNode, runAgain } = await import("./own-node/own-node.js");
  try {
    await runAgain(findOwnNode());
  } catch ({ message }) {
    process.stderr.write(`Node ${NODE} is needed, but this is ${process.version}; ${message}\n`);
    process.exit(1);
  }
}
// The cache is enabled before anything else is loaded, because compilation takes half of the startup time.
// This file is not TypeScript, because Node would load its TypeScript compiler (8 MiB) only for this file.
module.enableCompileCache();
const built = new URL("built/program.js", import.meta.url);
const isBuilt = existsSync(built);
if (!isBuilt) {
  process.stderr.write("Nothing is built: the program runs from its sources. To build it, run: npm run build\n");
}
const { runProgram } = await import(isBuilt ? built.href : new URL("commands/program.ts", import.meta.url).href);
await runProgram(process.argv);
