import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Figures of one hour, 0 to 23, of a day, in the order of `BookingDay`. Amounts are in minor units. */
type BookedHour = readonly [
  hour: number,
  bookings: number,
  cancellations: number,
  quoted: number,
  paidMinor: number,
  awaitingMinor: number,
];

/**
 * Bookings of a workspace on a day, in one currency, as far as `BookingRollUp` has counted. Source
 * of the reports. Days without bookings have no row.
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
    quoted: p.bigint("number"),
    /** Totals of paid bookings and of those that await their payment, in minor units. */
    paidMinor: p.bigint("number"),
    awaitingMinor: p.bigint("number"),
    /** The same by hour, for the days of other time zones. Hours without bookings are left out. */
    hours: p.json().$type<readonly BookedHour[]>(),
  },
  // Across workspaces.
  indexes: [{ name: "booking_day_by_date", properties: ["date"] }],
});

export type BookingDay = InferEntity<typeof BookingDay>;
