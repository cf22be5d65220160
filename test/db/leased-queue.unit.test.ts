import { expect, test, vi } from "vitest";
import { createWorkers, type LeasedQueue, type QueueControl, type WorkItem } from "../../src/db/leased-queue.ts";
import { TEST_MS } from "../support/limits.ts";

/** Starts three concurrent workers, at most two per workspace. Each item takes until the test ends it. */
function startWorkers(due: WorkItem[], queue: Partial<LeasedQueue> = {}) {
  const begun = new Map<string, { end: (outcome?: string) => void; fail: (error: Error) => void }>();
  const failures: unknown[] = [];
  const counted: (string | undefined)[] = [];
  let inProgress = () => 0;
  const workers = createWorkers(
    {
      name: "pieces",
      outcomes: ["done"],
      concurrency: { total: 3, perWorkspace: 2 },
      find: async ({ limit, exceptWorkspaces: except }) =>
        due.filter(({ workspace }) => !except.includes(workspace)).slice(0, limit),
      work(item) {
        due.splice(due.indexOf(item), 1);
        const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
        begun.set(item.reference!, { end: (outcome = "done") => resolve(outcome), fail: reject });
        return promise;
      },
      ...queue,
    },
    {
      pollMs: TEST_MS,
      log: { warn: ({ err }: { err: unknown }) => failures.push(err) },
      observeQueue(_, read) {
        inProgress = read;
        return (outcome) => counted.push(outcome);
      },
    },
  );
  /** Polls as often as the loop does without a pause. */
  async function poll(): Promise<void> {
    while ((await workers.poll()) === 0) continue;
  }
  /** Resolves once the loop polls again before its time. */
  const woken = async () => expect(await workers.waiter.wait(TEST_MS)).toBe(true);
  const names = () => [...begun.keys()];
  return { ...workers, poll, woken, begun, failures, counted, names, inProgress: () => inProgress() };
}

const piecesOf = (workspace: number, ...references: string[]): WorkItem[] =>
  references.map((reference) => ({ workspace, reference }));

test("starts the next item when one finishes, even if others hang", async () => {
  const due = [...piecesOf(1, "hangs"), ...piecesOf(2, "a", "b"), ...piecesOf(3, "c", "d")];
  const { poll, woken, begun, names, inProgress } = startWorkers(due);
  await poll();
  expect(names()).toEqual(["hangs", "a", "b"]);
  expect(inProgress()).toBe(3);
  for (const [ended, next] of [
    ["b", "c"],
    ["c", "d"],
  ] as const) {
    begun.get(ended)!.end();
    await woken();
    await poll();
    expect(names().at(-1)).toBe(next);
  }
});

test("a workspace whose items all hang leaves slots for others", async () => {
  const due = [...piecesOf(1, "a", "b", "c", "d"), ...piecesOf(2, "e")];
  const { poll, names } = startWorkers(due);
  await poll();
  expect(names()).toEqual(["a", "b", "e"]);
});

test("starts the next item of a workspace at its limit when one finishes", async () => {
  const { poll, woken, begun, names } = startWorkers(piecesOf(1, "a", "b", "c"));
  await poll();
  begun.get("a")!.end();
  await woken();
  await poll();
  expect(names()).toEqual(["a", "b", "c"]);
});

test("an item that is found again while in progress takes no slot from later items", async () => {
  const due = [...piecesOf(1, "a"), ...piecesOf(2, "b"), ...piecesOf(3, "c"), ...piecesOf(4, "d")];
  const names: (string | undefined)[] = [];
  const { poll } = startWorkers(due, {
    find: async ({ limit }) => due.slice(0, limit),
    async work({ reference }) {
      names.push(reference);
      if (reference !== "c") return new Promise(() => undefined);
      due.splice(2, 1);
      return undefined;
    },
  });
  await poll();
  await poll();
  expect(names).toEqual(["a", "b", "c", "d"]);
});

test("reports and counts failed work, counts outcomes and frees slots", async () => {
  const { poll, idle, begun, failures, counted, names } = startWorkers(piecesOf(1, "a", "b", "c"));
  await poll();
  const error = new Error("it failed");
  begun.get("a")!.fail(error);
  begun.get("b")!.end();
  await idle();
  expect(failures).toEqual([error]);
  expect(new Set(counted)).toEqual(new Set(["done", undefined]));
  await poll();
  expect(names()).toEqual(["a", "b", "c"]);
});

test("reports and counts a failed search and searches again after a pause", async () => {
  const error = new Error("the database is away");
  const found = [piecesOf(1, "a")];
  const { poll, failures, counted, names } = startWorkers([], {
    find: () => (failures.length === 0 ? Promise.reject(error) : Promise.resolve(found.shift() ?? [])),
  });
  await poll();
  expect([failures, counted]).toEqual([[error], [undefined]]);
  const now = performance.now.bind(performance);
  using _ = vi.spyOn(performance, "now").mockImplementation(() => now() + 1_000);
  await poll();
  expect(names()).toEqual(["a"]);
});

test("pauses a queue whose receiver is unreachable", async () => {
  const { poll, idle, begun, names } = startWorkers(piecesOf(1, "a", "b", "c"));
  await poll();
  begun.get("a")!.end("unreachable");
  begun.get("b")!.end("unreachable");
  await idle();
  await poll();
  expect(names()).toEqual(["a", "b"]);
});

test("searches only notified workspaces between polls, and starts the items that it already holds", async () => {
  const searches: (readonly number[] | undefined)[] = [];
  let control: QueueControl<WorkItem> | undefined;
  const { poll, woken, names } = startWorkers([], {
    connect: (given) => void (control = given),
    async find({ workspaces }) {
      searches.push(workspaces);
      return [];
    },
  });
  await poll();
  control!.wake([1, 2]);
  control!.wake([2, 3]);
  await woken();
  await poll();
  control!.wake(undefined);
  await poll();
  expect(searches).toEqual([undefined, [1, 2, 3], undefined]);
  control!.start({ workspace: 1, reference: "held" });
  expect(names()).toEqual(["held"]);
});
