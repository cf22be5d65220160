import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { SCENARIOS, type Scenario } from "../../domain/shipment/simulation.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { ofShipment } from "./shipment.entity.ts";

/** A scripted scenario for a test shipment; deleted when finished. */
export const Simulation = defineEntity({
  name: "Simulation",
  tableName: "simulation",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("cascade"),
    scenario: p.text().$type<Scenario>(),
    stepSeconds: p.integer(),
    taken: p.integer().default(0),
    /** When the next one is due, by the clock of the twin. */
    dueAt: p.datetime(3),
    /**
     * When to take it by itself, in real time: when it is due, or once the last try is over. Null while the clock
     * is frozen, once that was noticed.
     */
    nextTryAt: p.datetime(3).nullable(),
    /** Until when a process has to take it; the lease of one that dies ends by itself. */
    leasedUntil: p.datetime(3).nullable(),
    tries: p.integer().default(0),
  },
  indexes: [
    // Of all test twins.
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
