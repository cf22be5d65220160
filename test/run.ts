/**
 * Runs the tests as `vitest run` would with the same arguments, and ends with `N passed, N failed` alone on
 * a line, for machines that read the last line.
 */
import { parseCLI, startVitest, type TestModule } from "vitest/node";

/** The project whose tests wait for nobody: what fails there is wrong, however busy the machine was. */
const UNIT = "unit";

/** How many files are tried again at most: where more have failed, it was no accident. */
const MAX_TRIED_AGAIN = 10;

/**
 * Runs tests, tells how many passed and failed, and sets the exit code.
 *
 * With TEST_ATTEMPTS=2 files that failed run once more after all others: anew, one at a time, on a machine that
 * does nothing else. What passes only then is named, with what went wrong at first, as it is to be mended.
 *
 * @param config the path of Vitest's configuration
 * @param args the filters and options of `vitest run`
 */
export async function runTests(config: string, args: readonly string[]): Promise<void> {
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
  const count = { passed: 0, failed: errors };
  for (const module of results.values()) {
    count.failed += module.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed" || state === "failed") count[state]++;
    }
  }
  if (count.failed > 0) process.exitCode = 1;
  process.stdout.write(`\n${count.passed} passed, ${count.failed} failed\n`);
}

/** Names the tests of a file that failed the first time, and says why. */
function tellFlaky(module: TestModule): void {
  const tell = (
    name: string,
    errors: readonly { readonly stack?: string; readonly message: string }[],
  ) =>
    process.stdout.write(
      `\nFlaky: ${name}\n${errors.map(({ stack, message }) => stack ?? message).join("\n")}\n`,
    );
  if (module.errors().length > 0) tell(module.relativeModuleId, module.errors());
  for (const test of module.children.allTests("failed")) {
    tell(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
  }
}

if (import.meta.main) await runTests("test/vitest.config.ts", process.argv.slice(2));
