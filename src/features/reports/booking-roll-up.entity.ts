import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** How far the days of a workspace are counted in `BookingDay`. Who counts them locks its row. */
export const BookingRollUp = defineEntity({
  name: "BookingRollUp",
  tableName: "booking_roll_up",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** What events up to this position of the feed changed is counted, but on days in `fillBefore`. */
    position: p.bigint("number"),
    /**
     * Days before this were not counted yet since everything was to be counted; null when all are. Days
     * are filled in from the newest to the oldest.
     */
    fillBefore: p.datetime(3).nullable(),
    /** When the background counts it again at the soonest. */
    restUntil: p.datetime(3),
  },
});

export type BookingRollUp = InferEntity<typeof BookingRollUp>;
