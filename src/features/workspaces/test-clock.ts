import { LRUCache } from "lru-cache";
import { isTransientDatabaseError } from "../../db/database-error.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { AnyCall, Call } from "../../pipeline/call.ts";

const FROZEN_AT = `
  select (extract(epoch from frozen_at) * 1000)::float8 as "frozenAtMs"
  from test_clock where workspace_id = $1`;

/** The time at which a test twin's clock stands; undefined while it follows the real time. */
export async function findTestTime(
  em: EntityManager | Transaction,
  twin: number,
): Promise<Date | undefined> {
  const [clock] = await runStatement<{ frozenAtMs: number | null }>(em, FROZEN_AT, [twin]);
  return typeof clock?.frozenAtMs === "number" ? new Date(clock.frozenAtMs) : undefined;
}

/**
 * Notes when calls of test twins count as made. It is sent along with what the calls depend on, and nothing is
 * sent for live ones.
 */
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

/** The clocks of test twins that are frozen, as this process last knew them. */
export type TestTimes = Pick<LRUCache<number, Date>, "get" | "set">;

export function createTestTimes(): TestTimes {
  return new LRUCache<number, Date>({ max: MAX_KNOWN });
}

/** The time of a test twin's clock; while the database is away, as it was when this process last knew it. */
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

/** Has calls of test twins to a function that only reads go by the clock of the twin. */
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

/** When a call counts as made: at the time of its test twin's clock, else now. */
export function timeOf({ testTime }: Pick<Call, "testTime">, now: () => Date): Date {
  return testTime ?? now();
}
