/**
 * Runs the tests as `vitest run` would with the same arguments, and ends with `N passed, N failed` alone on
 * a line, for machines that read the last line.
 */
import { join } from "node:path";
import { parseCLI, startVitest, type TestModule } from "vitest/node";

/** The project whose tests wait for nobody: what fails there is wrong, however busy the machine was. */
const UNIT = "unit";

/** How many files are tried again at most: where more have failed, it was no accident. */
const MAX_TRIED_AGAIN = 10;

/** How long the process may last once all is told, in milliseconds, should anything keep it. */
const LAST_MS = 30_000;

/**
 * Runs tests, tells how many passed and failed, and sets the exit code. Where MISSING_TOOLS names what
 * some tests need and this machine has not, it tells that too, and how many tests were skipped.
 *
 * With TEST_ATTEMPTS=2 files that failed run once more after all others: anew, one at a time, on a machine that
 * does nothing else. What passes only then is named, with what went wrong at first, as it is to be mended.
 *
 * @param config the path of Vitest's configuration
 * @param args names of files, and options of `vitest run`
 */
export async function runTests(config: string, args: readonly string[]): Promise<void> {
  // Where Node keeps compiled code from run to run: starting workers, threads and programs takes half as long.
  process.env["NODE_COMPILE_CACHE"] ??= join(
    import.meta.dirname,
    "../node_modules/.cache/node-compile",
  );
  const { filter, options } = parseCLI(["vitest", "run", "--config", config, ...args]);
  const { state } = await startVitest(filter, options);
  const results = new Map(state.getTestModules().map((module) => [module.moduleId, module]));
  let errors = state.getUnhandledErrors().length;
  const failed = [...results.values()].filter((it) => !it.ok() && it.project.name !== UNIT);
  if (
    process.env["TEST_ATTEMPTS"] === "2" &&
    failed.length > 0 &&
    failed.length <= MAX_TRIED_AGAIN
  ) {
    process.exitCode = 0;
    const files = failed.map(({ moduleId }) => moduleId);
    const { state: second } = await startVitest(files, { ...options, fileParallelism: false });
    errors += second.getUnhandledErrors().length;
    for (const module of second.getTestModules()) results.set(module.moduleId, module);
    for (const module of failed) if (results.get(module.moduleId)!.ok()) tellFlaky(module);
  }
  const modules = [...results.values()];
  const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
  const failures = modules.flatMap(failuresOf).length + errors;
  // Vitest tells what fails before or after all tests, such as a set-up, by the exit code alone.
  const isGreen = failures === 0 && !process.exitCode;
  process.exitCode = isGreen ? 0 : 1;
  const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
  const missing = process.env["MISSING_TOOLS"];
  if (missing) process.stdout.write(`\nMissing: ${missing}. ${skipped.length} tests skipped.\n`);
  process.stdout.write(`\n${tests.length} passed, ${isGreen ? 0 : Math.max(failures, 1)} failed\n`);
  setTimeout(() => process.exit(), LAST_MS).unref();
}

/** Something of a file that failed: a test, or what is done before or after tests. */
interface Failure {
  readonly name: string;
  readonly errors: readonly { readonly stack?: string; readonly message: string }[];
}

/** What failed in a file; nothing where it is fine. */
function failuresOf(module: TestModule): Failure[] {
  const name = module.relativeModuleId;
  const around = [...module.children.allSuites()].map((suite) => ({
    name: `${name} > ${suite.fullName}`,
    errors: suite.errors(),
  }));
  const tests = [...module.children.allTests("failed")].map((test) => ({
    name: `${name} > ${test.fullName}`,
    errors: test.result().errors ?? [],
  }));
  const hooks = [{ name, errors: module.errors() }, ...around].filter(
    ({ errors }) => errors.length > 0,
  );
  const failures = [...hooks, ...tests];
  return failures.length > 0 || module.ok() ? failures : [{ name, errors: [] }];
}

/** Names what failed in a file the first time, and says why. */
function tellFlaky(module: TestModule): void {
  for (const { name, errors } of failuresOf(module)) {
    const stacks = errors.map(({ stack, message }) => stack ?? message);
    process.stdout.write(`\nFlaky: ${name}\n${stacks.join("\n")}\n`);
  }
}

if (import.meta.main) await runTests("test/vitest.config.ts", process.argv.slice(2));
