/**
 * Runs the tests like `vitest run` with the same arguments. The last line of output is a
 * machine-readable summary.
 */
import { join } from "node:path";
import { parseCLI, startVitest, type TestModule } from "vitest/node";

/** Maximum time that the process may run after the summary, in milliseconds. */
const LAST_MS = 30_000;

/** Returns the summary, which is the last line of every test command. */
export function summary(passed: number, failed: number, skipped: number): string {
  return `\n${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}

/**
 * Runs tests, prints a summary and sets the exit code. Also prints MISSING_TOOLS, the tools that
 * some tests need but that are not installed.
 *
 * @param config path of Vitest's configuration
 * @param args file names and options for `vitest run`
 */
export async function runTests(config: string, args: readonly string[]): Promise<void> {
  // Shares Node's compile cache between runs, which halves the startup time of workers, threads and programs.
  process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../node_modules/.cache/node-compile");
  const { filter, options } = parseCLI(["vitest", "run", "--config", config, ...args]);
  const { state } = await startVitest(filter, options);
  const modules = state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
  const failures = modules.flatMap(failuresOf).length + state.getUnhandledErrors().length;
  // Vitest reports failures outside of tests, such as in a global setup, only with the exit code.
  const isGreen = failures === 0 && !process.exitCode;
  process.exitCode = isGreen ? 0 : 1;
  const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
  const missing = process.env["MISSING_TOOLS"];
  if (missing) process.stdout.write(`\nMissing: ${missing}.\n`);
  const failed = isGreen ? 0 : Math.max(failures, 1);
  process.stdout.write(summary(tests.length, failed, skipped.length));
  setTimeout(() => process.exit(), LAST_MS).unref();
}

/** Returns a file's failures, whether in a test, in a hook, or in the file as a whole. */
function failuresOf(module: TestModule): unknown[] {
  const { children } = module;
  const around = [module, ...children.allSuites()].filter((part) => part.errors().length > 0);
  const failures = [...around, ...children.allTests("failed")];
  return failures.length > 0 || module.ok() ? failures : [module];
}

if (import.meta.main) await runTests("test/vitest.config.ts", process.argv.slice(2));
