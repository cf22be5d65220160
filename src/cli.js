import module from "node:module";
import { programUrl } from "./program-url.js";

/** The oldest Node that it is tried on. */
const NODE = 26;

if (Number.parseInt(process.versions.node, 10) < NODE) {
  const found = `Node ${NODE} is needed; this is ${process.version}.`;
  process.stderr.write(`${found} npm brings one: use an npm script, or node_modules/.bin/node\n`);
  process.exit(1);
}
// Before anything else is loaded, since loading is most of a start and half of it is compiling. This
// file and what it imports are loaded before, hence not in TypeScript: Node's compiler, which takes
// 8 MiB and is kept, would be loaded for them alone.
module.enableCompileCache();
const { runProgram } = await import(programUrl());
await runProgram(process.argv);
// What is still open by now (a broken connection's timers) must not keep the command from ending.
process.exit();
