import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with `N passed, N failed` alone on a line, for machines that read the last line. Tests that
 * passed only when they were tried again are named before it, with what went wrong first: each is to be mended.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === "passed") passed++;
        if (state === "failed") failed++;
        if (test.diagnostic()?.flaky) {
          const stacks = errors?.map(({ stack, message }) => stack ?? message);
          process.stdout.write(
            `\nFlaky: ${module.relativeModuleId} > ${test.fullName}\n${stacks?.join("\n")}\n`,
          );
        }
      }
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  }
}
