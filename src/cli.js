import module from "node:module";

// Before anything else is loaded, since loading is most of a start and half of it is compiling. This
// file is loaded before, hence not in TypeScript: Node's compiler, which takes 8 MiB and is kept,
// would be loaded for it alone. A Node that is too old has no cache either; the next line fails then.
module.enableCompileCache?.();
const { runProgram } = await import("./commands/program.ts");
await runProgram(process.argv);
// What is still open by now (a broken connection's timers) must not keep the command from ending.
process.exit();
