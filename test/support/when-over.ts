import { rmSync } from "node:fs";
import { afterAll, onTestFinished, TestRunner } from "vitest";
import { makeTemporaryFolder } from "./temporary-folder.ts";

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

/** Makes an empty folder, which goes when the test or its file is over. */
export function ownFolder(name: string): string {
  const folder = makeTemporaryFolder(name);
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
