import { rmSync } from "node:fs";
import { afterAll, onTestFinished, TestRunner } from "vitest";
import { makeTemporaryFolder } from "./temporary-folder.ts";

/**
 * Registers a clean-up for the end of the running test, or of the file outside tests, in reverse order.
 *
 * @returns cleans up early
 */
export function whenOver(cleanUp: () => unknown): () => Promise<void> {
  let done: Promise<void> | undefined;
  const end = () => (done ??= (async () => void (await cleanUp()))());
  if (TestRunner.getCurrentTest() === undefined) afterAll(end);
  else onTestFinished(end);
  return end;
}

/** Creates an empty folder, removed when the test or its file ends. */
export function ownFolder(name: string): string {
  const folder = makeTemporaryFolder(name);
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
