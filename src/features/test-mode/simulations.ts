import { create } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { GetShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { LeasedQueue } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import { inPipeline, type Transaction } from "../../db/transaction.ts";
import { Refusal } from "../../domain/refusal.ts";
import { type NextStep, nextStep } from "../../domain/shipment/simulation.ts";
import type { CallIn } from "../../pipeline/call.ts";
import type { Changed, ChangeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import type { Simulation } from "../shipments/simulation.entity.ts";
import type { PaymentChange } from "../payments/stored-payment.ts";
import { applyStep, hasCheckout, writeStep } from "./simulated-step.ts";

export interface SimulationDeps {
  readonly em: EntityManager;
  /** Returns the real time. */
  readonly now: () => Date;
  readonly changeShipment: ChangeShipment;
  readonly callIn: CallIn;
  readonly log: Pick<Logger, "warn">;
}

const CONCURRENCY = 16;
/** Lease for the first attempt at a step, in milliseconds. Doubles with each attempt. */
const LEASE_MS = 5_000;
const MAX_LEASE_MS = 5 * 60_000;
const MAX_TRIES = 8;

export interface DueStep extends ShipmentKey {
  readonly tries: number;
}

const FIND_DUE = `
  select simulation.workspace_id::float8 as workspace, shipment_reference as reference, tries,
    frozen_at is not null as frozen, extract(epoch from next_try_at)::float8 as due
  from simulation
    left join test_clock on test_clock.workspace_id = simulation.workspace_id
  where next_try_at <= $1
  order by next_try_at limit ${CONCURRENCY}`;

interface FoundStep extends DueStep, DueRow {
  /** Whether the clock of the twin is frozen. */
  readonly frozen: boolean;
}

/** Creates the queue of steps that are due in real time. `MoveTestClock` takes the steps of frozen clocks. */
export function createSimulationQueue(deps: SimulationDeps): LeasedQueue<FoundStep> {
  return {
    name: "simulations",
    outcomes: ["taken", "paused", "failed"],
    concurrency: { total: CONCURRENCY, perWorkspace: CONCURRENCY },
    find: ({ limit }) => findDue<FoundStep>(deps.em, { sql: FIND_DUE, values: [deps.now().toISOString()] }, limit),
    async work(step) {
      if (!step.frozen) return (await takeNextStep(deps, step)) ? "taken" : "failed";
      await pauseSimulations(deps, step.workspace);
      return "paused";
    },
  };
}

/** Locks the clock. A concurrent release waits for the lock, and therefore resumes the paused simulations. */
const LOCK_FROZEN = `
  select 1 from test_clock where workspace_id = $1 and frozen_at is not null for share`;
/** Removes simulations from the queue. A leased simulation is removed after the lease. */
const PAUSE = `
  update simulation set next_try_at = null
  where workspace_id = $1 and next_try_at is not null
    and (leased_until is null or leased_until <= $2)`;

/** Removes the simulations of a twin from the queue while its clock is frozen. */
function pauseSimulations({ em, now }: SimulationDeps, twin: number): Promise<void> {
  return inPipeline(em, async (tx) => {
    const frozen = await tx.send(LOCK_FROZEN, [twin]);
    if (frozen.length > 0) void tx.send(PAUSE, [twin, now().toISOString()]);
  });
}

/** Returns SQL for the time of the next attempt. Null for a paused simulation, so that it stays out of the queue. */
const unlessPaused = (time: string) => `case when next_try_at is null then null else ${time} end`;

/**
 * Leases a due step. Matches no row if another process has completed the step in the meantime and the following step is
 * not due.
 */
const LEASE = `
  update simulation
  set leased_until = $3, tries = tries + 1, next_try_at = ${unlessPaused("$3::timestamptz")}
  where workspace_id = $1 and shipment_reference = $2 and due_at <= $5
    and (leased_until is null or leased_until <= $4::timestamptz)
  returning taken, tries`;

const LOCK = `
  select scenario, step_seconds as "stepSeconds", taken from simulation
  where workspace_id = $1 and shipment_reference = $2 for update`;

/** A completed step, and the following step. `next` is `undefined` if the simulation is complete. */
interface Made {
  readonly change: PaymentChange;
  readonly next: NextStep | undefined;
}

type LockedSimulation = Pick<Simulation, "scenario" | "stepSeconds" | "taken">;

/** Loads the data that a step depends on, in addition to the shipment. */
export async function loadForStep(tx: Transaction, key: ShipmentKey) {
  const [[simulation], isAtProvider] = await Promise.all([
    tx.send<LockedSimulation>(LOCK, [key.workspace, key.reference]),
    hasCheckout(tx, key),
  ]);
  return { simulation, isAtProvider };
}

const ADVANCE = `
  update simulation
  set taken = taken + 1, due_at = $3, leased_until = null, tries = 0,
    next_try_at = ${unlessPaused("$3::timestamptz")}
  where workspace_id = $1 and shipment_reference = $2`;
const END = "delete from simulation where workspace_id = $1 and shipment_reference = $2";
const END_UNLESS_TAKEN = `${END} and taken = $3`;

/** Schedules the next step of a simulation, or deletes the simulation if there is none. */
export function writeNextStep(
  tx: Transaction,
  { workspace, reference }: ShipmentKey,
  next: NextStep | undefined,
): void {
  if (next === undefined) void tx.send(END, [workspace, reference]);
  else void tx.send(ADVANCE, [workspace, reference, next.dueAt.toISOString()]);
}

/** Refusal reasons after which a step can never succeed. */
const ENDING: ReadonlySet<string> = new Set(["SHIPMENT_STATE", "SHIPMENT_NOT_FOUND", "PAYMENT_DISPUTED"]);

/**
 * Performs the next step of a simulation. The step and its effect on the shipment are written in one transaction, so
 * the step is performed once even if the process crashes. The simulation ends if its shipment was changed and does not
 * allow the step. It also ends after `MAX_TRIES` failures or crashes.
 *
 * @param at time of the step, by default the time of the twin's clock
 * @returns false if the step is not due, is leased by another process, or failed
 */
export async function takeNextStep(
  deps: SimulationDeps,
  { workspace, reference, tries }: DueStep,
  at?: Date,
): Promise<boolean> {
  const { em, now, log } = deps;
  const nowMs = now().getTime();
  const until = new Date(nowMs + Math.min(LEASE_MS * 2 ** tries, MAX_LEASE_MS)).toISOString();
  const dueBy = (at ?? now()).toISOString();
  const values = [workspace, reference, until, new Date(nowMs).toISOString(), dueBy];
  const [leased] = await runStatement<Leased>(em, LEASE, values);
  if (leased === undefined) return false;
  const end = () => runStatement(em, END_UNLESS_TAKEN, [workspace, reference, leased.taken]);
  const ran = { workspace, shipment: reference, taken: leased.taken };
  if (leased.tries > MAX_TRIES) {
    await end();
    log.warn(ran, `simulation abandoned: its next step failed ${MAX_TRIES} times`);
    return true;
  }
  try {
    await changeByStep(deps, { workspace, reference }, leased.taken, at);
  } catch (error) {
    if (!(error instanceof Refusal) || !ENDING.has(error.reason)) {
      log.warn({ ...ran, tries: leased.tries, err: error }, "a step of a simulation failed");
      return false;
    }
    await end();
  }
  return true;
}

interface Leased {
  readonly taken: number;
  /** Number of attempts at the next step, including this one. */
  readonly tries: number;
}

/**
 * Applies the next step of a simulation to its shipment and schedules the following step. A no-op if another process
 * has completed the step.
 *
 * @throws Refusal with a reason from `ENDING`, and other errors
 */
async function changeByStep(
  { now, changeShipment, callIn }: SimulationDeps,
  key: ShipmentKey,
  alreadyTaken: number,
  at: Date | undefined,
): Promise<void> {
  const { workspace, reference } = key;
  const call = await callIn(workspace, true);
  call.testTime = at;
  await changeShipment({
    method: ShipmentService.method.getShipment,
    request: create(GetShipmentRequestSchema, { shipment: reference }),
    call,
    load: (tx) => loadForStep(tx, key),
    change(before, { simulation, isAtProvider }, takenAt): Changed<Made | undefined> {
      if (simulation?.taken !== alreadyTaken) return { row: before };
      const { step } = nextStep(simulation, alreadyTaken, takenAt)!;
      const change = applyStep(before, step, takenAt, isAtProvider);
      const next = nextStep(simulation, alreadyTaken + 1, takenAt);
      return { row: change.row, made: { change, next } };
    },
    write(tx: Transaction, made) {
      const { change, next } = made!;
      writeStep(tx, key, change, now());
      writeNextStep(tx, key, next);
    },
  });
}
