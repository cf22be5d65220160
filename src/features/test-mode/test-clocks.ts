import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import { inPipeline } from "../../db/transaction.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import type { TestTimes } from "../workspaces/test-clock.ts";
import type { SimulationDeps } from "./simulations.ts";

export interface TestModeDeps extends SimulationDeps {
  readonly testTimes: TestTimes;
}

export type TestModeFunctions = ServiceFunctions<typeof TestService, Call, TestModeDeps>;

/** Returns the clock as a message, and caches its time in this process. */
export function testClockMessage({ now, testTimes }: TestModeDeps, twin: number, frozenAt: Date | undefined) {
  testTimes.set(twin, frozenAt);
  return { time: timestampFromDate(frozenAt ?? now()), frozen: Boolean(frozenAt) };
}

/** Makes the clock follow real time. Keeps `latest_at`, because test data can have times up to that time. */
const RELEASE = `
  update test_clock set frozen_at = null, moved_at = $2
  where workspace_id = $1 and ($3::timestamptz is null or moved_at < $3)`;

/**
 * Makes the clock of a test twin and its simulations follow real time again.
 *
 * @param unmovedSince a clock that was moved after this time is not changed
 */
export function releaseClock(
  { em, now }: Pick<TestModeDeps, "em" | "now">,
  twin: number,
  unmovedSince?: Date,
): Promise<void> {
  return inPipeline(em, async (tx) => {
    void tx.send(RELEASE, [twin, now().toISOString(), unmovedSince?.toISOString()]);
    // Must follow the update of the clock, which waits for `LOCK_FROZEN`. This statement then sees all paused
    // simulations.
    void tx.send(RESUME, [twin]);
  });
}

const RESUME = `
  update simulation set next_try_at = greatest(due_at, leased_until)
  where workspace_id = $1 and next_try_at is null`;
