import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Progress of counting a workspace's bookings in `BookingDay`. The counting process locks the row. */
export const BookingRollUp = defineEntity({
  name: "BookingRollUp",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Feed position up to which events are processed. */
    position: p.bigint("number"),
    /**
     * Days before this time are not counted yet, because days are counted from the newest to the oldest. null if all
     * days are counted.
     */
    fillBefore: p.datetime(3).nullable(),
    /** Earliest time of the next background count. */
    restUntil: p.datetime(3),
  },
});

export type BookingRollUp = InferEntity<typeof BookingRollUp>;
