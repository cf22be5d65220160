import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { SCENARIOS, type Scenario } from "../../domain/shipment/simulation.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { ofShipment } from "./shipment.entity.ts";

/** A scenario that is simulated for a test shipment. Deleted when complete. */
export const Simulation = defineEntity({
  name: "Simulation",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("cascade"),
    scenario: p.text().$type<Scenario>(),
    stepSeconds: p.integer(),
    taken: p.integer().default(0),
    /** Time of the next step, by the test clock. */
    dueAt: p.datetime(3),
    /** Real time of the next automatic attempt at a step. null while the clock is frozen. */
    nextTryAt: p.datetime(3).nullable(),
    /** End of the lease of the process that performs the step. null if there is none. */
    leasedUntil: p.datetime(3).nullable(),
    tries: p.integer().default(0),
  },
  indexes: [
    // Index for the workers, which read all test twins.
    {
      name: "simulation_next_try",
      properties: ["nextTryAt"],
      where: "next_try_at is not null",
    },
    { name: "simulation_due_in_twin", properties: ["workspace", "dueAt", "shipment"] },
  ],
  checks: [
    {
      name: "simulation_scenario",
      expression: `scenario in (${SCENARIOS.map((scenario) => `'${scenario}'`).join(", ")})`,
    },
  ],
});

export type Simulation = InferEntity<typeof Simulation>;
