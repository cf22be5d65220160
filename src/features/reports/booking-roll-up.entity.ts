import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Progress of counting a workspace in `BookingDay`. The counting process locks its row. */
export const BookingRollUp = defineEntity({
  name: "BookingRollUp",
  tableName: "booking_roll_up",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Changes by events up to this position of the feed are counted, except on days in `fillBefore`. */
    position: p.bigint("number"),
    /**
     * Days before this time are not counted yet since the last full recount. null when all are.
     * Days are filled from the newest to the oldest.
     */
    fillBefore: p.datetime(3).nullable(),
    /** Earliest time of the next background count. */
    restUntil: p.datetime(3),
  },
});

export type BookingRollUp = InferEntity<typeof BookingRollUp>;
