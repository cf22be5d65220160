import { afterAll, onTestFinished, TestRunner } from "vitest";

/**
 * Cleans up when the running test ends, or the file when no test runs; what was asked for last comes
 * first. Whatever a test starts asks for its own end so.
 *
 * @returns cleans up before that
 */
export function whenOver(cleanUp: () => unknown): () => Promise<void> {
  let done: Promise<void> | undefined;
  const end = () => (done ??= (async () => void (await cleanUp()))());
  if (TestRunner.getCurrentTest() === undefined) afterAll(end);
  else onTestFinished(end);
  return end;
}
