import { expect, test } from "vitest";
import { createWorkers, type WorkItem } from "../../src/db/leased-queue.ts";

/** Starts three concurrent workers, at most two per workspace. Each item takes until the test ends it. */
function startWorkers(due: WorkItem[]) {
  const begun = new Map<string, { end: () => void; fail: (error: Error) => void }>();
  const failures: unknown[] = [];
  const workers = createWorkers(
    {
      concurrency: 3,
      workspaceConcurrency: 2,
      find: async (limit, except) => due.filter(({ workspace }) => !except.includes(workspace)).slice(0, limit),
      work(item) {
        due.splice(due.indexOf(item), 1);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        begun.set(item.reference!, { end: resolve, fail: reject });
        return promise;
      },
    },
    (error) => failures.push(error),
  );
  return { workers, begun, failures, names: () => [...begun.keys()] };
}

const piecesOf = (workspace: number, ...references: string[]): WorkItem[] =>
  references.map((reference) => ({ workspace, reference }));

test("the next piece is begun as soon as one has ended, whatever hangs", async () => {
  const due = [...piecesOf(1, "hangs"), ...piecesOf(2, "a", "b"), ...piecesOf(3, "c", "d")];
  const { workers, begun, names } = startWorkers(due);
  expect(await workers.startDue()).toBe(true);
  expect(names()).toEqual(["hangs", "a", "b"]);
  const next = workers.startDue();
  begun.get("b")!.end();
  expect(await next).toBe(true);
  expect(names()).toEqual(["hangs", "a", "b", "c"]);
  begun.get("c")!.end();
  await workers.startDue();
  expect(names()).toEqual(["hangs", "a", "b", "c", "d"]);
});

test("a workspace whose pieces all hang leaves room for others", async () => {
  const due = [...piecesOf(1, "a", "b", "c", "d"), ...piecesOf(2, "e")];
  const { workers, names } = startWorkers(due);
  expect(await workers.startDue()).toBe(true);
  expect(await workers.startDue()).toBe(true);
  expect(names()).toEqual(["a", "b", "e"]);
});

test("the next piece of a workspace that has its share is begun as soon as one has ended", async () => {
  const due = piecesOf(1, "a", "b", "c");
  const { workers, begun, names } = startWorkers(due);
  await workers.startDue();
  const next = workers.startDue();
  begun.get("a")!.end();
  expect(await next).toBe(true);
  await workers.startDue();
  expect(names()).toEqual(["a", "b", "c"]);
});

test("what is found again while it is in hand takes no room of what is due after it", async () => {
  const due = [...piecesOf(1, "a"), ...piecesOf(2, "b"), ...piecesOf(3, "c"), ...piecesOf(4, "d")];
  const names: (string | undefined)[] = [];
  const workers = createWorkers(
    {
      concurrency: 3,
      workspaceConcurrency: 2,
      find: async (limit) => due.slice(0, limit),
      async work({ reference }) {
        names.push(reference);
        if (reference !== "c") return new Promise(() => undefined);
        due.splice(2, 1);
      },
    },
    () => undefined,
  );
  await workers.startDue();
  await workers.startDue();
  expect(names).toEqual(["a", "b", "c", "d"]);
});

test("what fails is told, and makes room", async () => {
  const due = piecesOf(1, "a", "b", "c");
  const { workers, begun, failures, names } = startWorkers(due);
  await workers.startDue();
  const error = new Error("it failed");
  begun.get("a")!.fail(error);
  begun.get("b")!.end();
  await workers.idle();
  expect(failures).toEqual([error]);
  expect(await workers.startDue()).toBe(false);
  expect(names()).toEqual(["a", "b", "c"]);
});
