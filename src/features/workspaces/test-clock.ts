import { LRUCache } from "lru-cache";
import { isTransientDatabaseError } from "../../db/database-error.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { AnyCall, Call } from "../../pipeline/call.ts";

const FROZEN_AT = `
  select (extract(epoch from frozen_at) * 1000)::float8 as "frozenAtMs"
  from test_clock where workspace_id = $1`;

/** Returns the time of a frozen test clock, or `undefined` if it follows real time. */
export async function findTestTime(em: EntityManager | Transaction, twin: number): Promise<Date | undefined> {
  const [clock] = await runStatement<{ frozenAtMs: number | null }>(em, FROZEN_AT, [twin]);
  return typeof clock?.frozenAtMs === "number" ? new Date(clock.frozenAtMs) : undefined;
}

/** Sets the time of test-twin calls, in the same round trip as other reads. Sends no statement for live calls. */
export async function loadTestTimes(tx: Transaction, calls: readonly AnyCall[]): Promise<void> {
  const twins = Map.groupBy(calls.filter(isOfTwin), ({ caller }) => caller.workspaceId);
  const noted = [...twins].map(async ([twin, own]) => {
    const time = await findTestTime(tx, twin);
    for (const call of own) call.testTime ??= time;
  });
  await Promise.all(noted);
}

function isOfTwin(call: AnyCall): call is Call {
  return call.caller.audience === "workspace" && call.caller.test;
}

const MAX_KNOWN = 10_000;

/** Times of frozen test clocks, as last read by this process. */
export type TestTimes = Pick<LRUCache<number, Date>, "get" | "set">;

export function createTestTimes(): TestTimes {
  return new LRUCache<number, Date>({ max: MAX_KNOWN });
}

/** Returns the time of a frozen test clock. During a database outage, returns its last known time. */
async function findOrRecallTestTime(
  { em, testTimes }: { readonly em: EntityManager; readonly testTimes: TestTimes },
  twin: number,
): Promise<Date | undefined> {
  try {
    const time = await findTestTime(em, twin);
    testTimes.set(twin, time);
    return time;
  } catch (error) {
    if (!isTransientDatabaseError(error)) throw error;
    return testTimes.get(twin);
  }
}

/** Wraps a function so that it uses the test clock of the caller's test twin. */
export function byTestClock<Request, Deps, Result>(
  perform: (request: Request, call: Call, deps: Deps) => Result | Promise<Result>,
): (
  request: Request,
  call: Call,
  deps: Deps & { readonly em: EntityManager; readonly testTimes: TestTimes },
) => Result | Promise<Result> {
  return (request, call, deps) => {
    if (!call.caller.test) return perform(request, call, deps);
    return (async () => {
      call.testTime = await findOrRecallTestTime(deps, call.caller.workspaceId);
      return await perform(request, call, deps);
    })();
  };
}

/** Returns the time of a call: its test clock's time if frozen, otherwise the current time. */
export function timeOf({ testTime }: Pick<Call, "testTime">, now: () => Date): Date {
  return testTime ?? now();
}
