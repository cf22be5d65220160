import { expect, test } from "vitest";
import { createCoverageDocuments } from "../../../src/features/tariffs/coverage/coverage-documents.ts";
import type { TariffTasks } from "../../../src/features/tariffs/tasks/run-tariff-task.ts";

const MIB = 1024 * 1024;

/** Creates documents of the given sizes in MiB, one per version. Also returns the order in which they are built. */
function documentsOf(sizes: readonly number[]) {
  const made: string[] = [];
  let running = 0;
  const runAtOnce = async (_: string, input: { version: number; toleranceM: number }) => {
    expect(++running).toBe(1);
    await new Promise(setImmediate);
    running--;
    made.push(`${input.version}-${input.toleranceM}`);
    const size = sizes[input.version - 1];
    if (size === undefined) throw new Error("no such version");
    return new Uint8Array(size * MIB).fill(input.toleranceM);
  };
  const tasks = { runAtOnce } as unknown as Pick<TariffTasks, "runAtOnce">;
  return { made, documents: createCoverageDocuments(tasks) };
}

test("builds a document once for concurrent requests, and one document at a time", async () => {
  const { made, documents } = documentsOf([1, 1]);
  const responses = await Promise.all(
    [1, 2, 1, 2, 1].map((version) => documents.find(version, version === 1 ? 0 : 10)),
  );
  expect(made).toEqual(["1-0", "2-10"]);
  expect(new Set(responses).size).toBe(2);
  expect(responses[1]!.message()).toMatchObject({ tariffVersion: 2, toleranceM: 10 });
});

test("evicts the least recently used documents when the cache is full", async () => {
  const { made, documents } = documentsOf([30, 30, 30]);
  for (const version of [1, 2, 1, 3, 1, 2]) await documents.find(version, 0);
  expect(made).toEqual(["1-0", "2-0", "3-0", "2-0"]);
});

test("counts the compressed size of a document too", async () => {
  const { made, documents } = documentsOf([30, 30]);
  const first = await documents.find(1, 0);
  await first.form("gzip", async () => Buffer.alloc(10 * MIB));
  await documents.find(2, 0);
  await documents.find(1, 0);
  expect(made).toEqual(["1-0", "2-0", "1-0"]);
});

test("keeps a document that exceeds the limit until another is requested", async () => {
  const { made, documents } = documentsOf([70, 1]);
  for (const version of [1, 1, 2, 1]) await documents.find(version, 0);
  expect(made).toEqual(["1-0", "2-0", "1-0"]);
});

test("retries a failed build", async () => {
  const { made, documents } = documentsOf([]);
  for (const _ of [1, 2]) await expect(documents.find(1, 0)).rejects.toThrow("no such version");
  expect(made).toEqual(["1-0", "1-0"]);
});

test("entity tags differ between documents and are equal for the same version and tolerance", async () => {
  const tags = async () => {
    const { documents } = documentsOf([1, 1]);
    const all = await Promise.all([documents.find(1, 0), documents.find(2, 0), documents.find(1, 10)]);
    return all.map(({ document }) => document.etag);
  };
  const [one, again] = [await tags(), await tags()];
  expect(one).toEqual(again);
  expect(new Set(one).size).toBe(3);
});
