import { setTimeout as sleep } from "node:timers/promises";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { findTestTime } from "../workspaces/test-clock.ts";
import { type DueStep, takeNextStep } from "./simulations.ts";
import { testClockMessage, type TestModeDeps, type TestModeFunctions } from "./test-clocks.ts";

const MAX_YEARS = 2;

/**
 * Freezes the clock at the given time, by default the current time, and performs the simulation steps that are due by
 * then.
 */
export const moveTestClock: TestModeFunctions["moveTestClock"] = async (request, { caller: { workspaceId } }, deps) => {
  const { em, now } = deps;
  const realTime = now();
  const current = (await findTestTime(em, workspaceId)) ?? realTime;
  const target = request.time === undefined ? current : timestampDate(request.time);
  if (target < current) throw backwardsError(current);
  assertNear(target, realTime);
  // A concurrent call may move the clock. This call is refused only if the clock ends up later than requested.
  const start = await freeze(em, workspaceId, current, realTime);
  const { reached, complete } = await takeStepsUntil(deps, workspaceId, { start, target });
  const time = complete ? await freeze(em, workspaceId, target, realTime) : reached;
  if (request.time !== undefined && time > target) throw backwardsError(time);
  return { data: testClockMessage(deps, workspaceId, time), complete };
};

/**
 * Maximum time for which a call performs steps, in milliseconds. Then the response is marked incomplete and the caller
 * repeats the call.
 */
const MAX_MS = 5_000;
/** Delay before retrying a step that failed or that another process is performing, in milliseconds. */
const BUSY_MS = 50;

const NEXT_DUE = `
  select shipment_reference as reference, tries, (extract(epoch from due_at) * 1000)::float8 as "dueAtMs"
  from simulation where workspace_id = $1 and due_at <= $2
  order by due_at, shipment_reference limit 1`;

interface NextDue extends Omit<DueStep, "workspace"> {
  readonly dueAtMs: number;
}

/**
 * Performs the due steps of a test twin up to a time, one by one. Moves the clock to the time of each step.
 *
 * @returns the time of the clock, and whether all due steps are complete
 */
async function takeStepsUntil(
  deps: TestModeDeps,
  workspace: number,
  { start, target }: { readonly start: Date; readonly target: Date },
): Promise<{ readonly reached: Date; readonly complete: boolean }> {
  const { em, now } = deps;
  const endMs = performance.now() + MAX_MS;
  let reached = start;
  while (performance.now() < endMs) {
    const values = [workspace, target.toISOString()];
    const [next] = await runStatement<NextDue>(em, NEXT_DUE, values);
    if (next === undefined) return { reached, complete: true };
    const { dueAtMs, ...step } = next;
    if (dueAtMs > reached.getTime()) {
      reached = await freeze(em, workspace, new Date(dueAtMs), now());
    }
    const isTaken = await takeNextStep(deps, { workspace, ...step }, reached);
    if (!isTaken) await sleep(BUSY_MS);
  }
  return { reached, complete: false };
}

function assertNear(target: Date, realTime: Date): void {
  const latest = new Date(realTime);
  latest.setUTCFullYear(latest.getUTCFullYear() + MAX_YEARS);
  if (target <= latest) return;
  throw timeError(`time must be at most two years ahead, which is ${latest.toISOString()} at the latest.`);
}

/** Freezes the clock, unless a concurrent call moved it further. */
const FREEZE = `
  insert into test_clock (workspace_id, frozen_at, latest_at, moved_at) values ($1, $2, $2, $3)
  on conflict (workspace_id) do update
  set frozen_at = excluded.frozen_at, latest_at = greatest(test_clock.latest_at, excluded.latest_at),
    moved_at = excluded.moved_at
  where test_clock.frozen_at is null or test_clock.frozen_at <= excluded.frozen_at
  returning 1`;

/** @returns the resulting time, which is later than `at` if a concurrent call moved the clock further */
async function freeze(em: EntityManager, twin: number, at: Date, realTime: Date): Promise<Date> {
  const values = [twin, at.toISOString(), realTime.toISOString()];
  const written = await runStatement(em, FREEZE, values);
  return written.length > 0 ? at : ((await findTestTime(em, twin)) ?? at);
}

function backwardsError(current: Date): Refusal {
  return timeError(
    `time must not be before the clock's, which is ${current.toISOString()}. The clock only moves forward.`,
  );
}

function timeError(text: string): Refusal {
  return refuse("FIELD_INVALID", text, { subject: "time" });
}
