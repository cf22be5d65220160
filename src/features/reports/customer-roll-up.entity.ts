import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Progress of counting a workspace's shipments in `CustomerFigure`. The counting process locks the row. Separate from
 * `BookingRollUp`, which earlier releases advance without counting customers. After a merge by an earlier release,
 * during a rolling update, the remaining customer is counted with its next event.
 */
export const CustomerRollUp = defineEntity({
  name: "CustomerRollUp",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Feed position up to which events are processed. */
    position: p.bigint("number"),
    /**
     * Customers with ids below this are not counted yet, because customers are counted from the newest to the oldest.
     * null if all are counted.
     */
    fillBefore: p.bigint("string").nullable(),
    /** Earliest time of the next background count. */
    restUntil: p.datetime(3),
  },
});

export type CustomerRollUp = InferEntity<typeof CustomerRollUp>;
