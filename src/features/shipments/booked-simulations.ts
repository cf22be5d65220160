import type { CreateShipmentRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { SimulationScenarioSchema } from "../../../gen/shipments/v1/simulation_pb.js";
import { loadByOwner } from "../../db/by-owner.ts";
import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { Outcome } from "../../db/group-commit.ts";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { Transaction } from "../../db/transaction.ts";
import { MAX_SIMULATIONS } from "../../domain/limits.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import { nextStep, type Scenario } from "../../domain/shipment/simulation.ts";
import { compileEnumName } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { Simulation } from "./simulation.entity.ts";

const STEP_SECONDS = 10;

const scenarioOf = compileEnumName<Scenario>(SimulationScenarioSchema);

interface Simulated {
  readonly request: CreateShipmentRequest;
  readonly call: Call;
}

/** @throws Refusal FIELD_INVALID if a live booking requests a simulation */
export function assertMaySimulate({ simulation }: CreateShipmentRequest, { caller }: Call): void {
  if (simulation === undefined || caller.test) return;
  throw invalidField("simulation", "requires a test key, which begins with shp_test_. Omit it.");
}

const COUNT_SIMULATIONS = "select count(*)::int as count from simulation where workspace_id = $1";

/**
 * Returns the number of running simulations in the workspace of each booking. Blocks concurrent
 * bookings with simulations in these workspaces until the transaction ends. Skips the query and
 * returns 0 for workspaces without a requested simulation.
 */
export function countSimulations(tx: Transaction, bookings: readonly Simulated[]): Promise<number[]> {
  return loadByOwner(bookings, workspaceOf, async (workspace, own) => {
    if (own.every(({ request }) => request.simulation === undefined)) return own.map(() => 0);
    const [row] = await lockAndLoad(tx, "simulations", workspace, () =>
      tx.send<{ count: number }>(COUNT_SIMULATIONS, [workspace]),
    );
    return own.map(() => row!.count);
  });
}

const workspaceOf = ({ call }: Simulated) => call.caller.workspaceId;

/** Refuses bookings with SIMULATION_LIMIT if their simulation would exceed the workspace's limit. */
export function limitSimulations<Accepted extends Simulated & { readonly facts: { readonly simulations: number } }>(
  checked: readonly Outcome<Accepted>[],
): Outcome<Accepted>[] {
  const counts = new Map<number, number>();
  return checked.map((outcome) => {
    if (!("result" in outcome) || outcome.result.request.simulation === undefined) return outcome;
    const workspace = workspaceOf(outcome.result);
    const count = counts.get(workspace) ?? outcome.result.facts.simulations;
    if (count >= MAX_SIMULATIONS) return { refused: refuse("SIMULATION_LIMIT") };
    counts.set(workspace, count + 1);
    return outcome;
  });
}

const insertion = insertionOf("simulation", columnsOf(Simulation, "workspace", "leasedUntil", "tries"));

interface Booked {
  readonly request: CreateShipmentRequest;
  readonly shipment: string;
  readonly bookedAt: Date;
}

/** Queues the insertion of requested simulations. Their shipments must be inserted first. */
export function insertSimulations(tx: Transaction, workspace: number, booked: readonly Booked[]): void {
  const rows = booked.flatMap(({ request: { simulation: requested }, shipment, bookedAt }) => {
    if (requested === undefined) return [];
    const scenario = scenarioOf(requested.scenario)!;
    const simulation = { scenario, stepSeconds: requested.stepSeconds ?? STEP_SECONDS };
    const { dueAt } = nextStep(simulation, 0, bookedAt)!;
    return [{ ...simulation, shipment, taken: 0, dueAt, nextTryAt: dueAt }];
  });
  if (rows.length > 0) void tx.send(...insertion(workspace, rows));
}
