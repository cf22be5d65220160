import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * What a workspace booked on a day, in one currency, as far as `BookingRollUp` says: from it come
 * reports on all workspaces. Days without bookings have no row.
 */
export const BookingDay = defineEntity({
  name: "BookingDay",
  tableName: "booking_day",
  primaryKeys: ["workspace", "date", "currency"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** In UTC. */
    date: p.date().primary(),
    currency: p.character().length(3).primary(),
    bookings: p.bigint("number"),
    cancellations: p.bigint("number"),
    /** How many of the bookings had a quote. */
    quoted: p.bigint("number"),
    /** The totals of those that are paid, and of those that await their payment, in minor units. */
    paidMinor: p.bigint("number"),
    awaitingMinor: p.bigint("number"),
  },
  // Of all workspaces.
  indexes: [{ name: "booking_day_by_date", properties: ["date"] }],
});

export type BookingDay = InferEntity<typeof BookingDay>;
