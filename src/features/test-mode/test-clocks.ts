import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EntityManager } from "../../db/orm.ts";
import { inPipeline, type Transaction } from "../../db/transaction.ts";
import type { TestTimes } from "../workspaces/test-clock.ts";

/** What the functions of test clocks work with. */
export interface TestClockDeps {
  readonly em: EntityManager;
  /** The real time. */
  readonly now: () => Date;
  readonly testTimes: TestTimes;
}

/** A clock as callers see it, and as this process knows it from now on. */
export function testClockMessage(
  { now, testTimes }: TestClockDeps,
  twin: number,
  frozenAt: Date | undefined,
) {
  testTimes.set(twin, frozenAt);
  return { time: timestampFromDate(frozenAt ?? now()), frozen: Boolean(frozenAt) };
}

/** What it showed is kept: test data may be dated up to that. */
const RELEASE = `
  update test_clock set frozen_at = null, moved_at = $2
  where workspace_id = $1 and ($3::timestamptz is null or moved_at < $3)`;

/**
 * Has the clock of a test twin follow the real time again, and its simulations with it.
 *
 * @param unmovedSince leaves it alone when somebody has moved it since
 */
export function releaseClock(
  { em, now }: Pick<TestClockDeps, "em" | "now">,
  twin: number,
  unmovedSince?: Date,
): Promise<void> {
  return inPipeline(em, async (tx) => {
    void tx.send(RELEASE, [twin, now().toISOString(), unmovedSince?.toISOString()]);
    resumeSimulations(tx, twin);
  });
}

const RESUME = `
  update simulation set next_try_at = greatest(due_at, leased_until)
  where workspace_id = $1 and next_try_at is null`;

/** Sends after the change of a clock: whoever parks simulations locks it, and so is seen. */
function resumeSimulations(tx: Transaction, twin: number): void {
  void tx.send(RESUME, [twin]);
}
