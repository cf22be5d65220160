import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Figures of one hour of a day, from 0 to 23. They have the same meaning as in `BookingDay`. */
type BookedHour = readonly [
  hour: number,
  bookings: number,
  cancellations: number,
  quoted: number,
  paidMinor: number,
  awaitingMinor: number,
];

/**
 * Precomputed figures of a workspace's bookings on one day and in one currency, used by reports. `BookingRollUp`
 * records which bookings are counted. Days without bookings have no row.
 */
export const BookingDay = defineEntity({
  name: "BookingDay",
  tableName: "booking_day",
  primaryKeys: ["workspace", "date", "currency"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Date in UTC. */
    date: p.date().primary(),
    currency: p.character().length(3).primary(),
    bookings: p.bigint("number"),
    cancellations: p.bigint("number"),
    quoted: p.bigint("number"),
    /** Totals of paid bookings and of bookings that await payment, in minor units. */
    paidMinor: p.bigint("number"),
    awaitingMinor: p.bigint("number"),
    /** The same figures by hour, for days in other time zones. Hours without bookings are omitted. */
    hours: p.json().$type<readonly BookedHour[]>(),
  },
  // For platform reports, which read all workspaces.
  indexes: [{ name: "booking_day_by_date", properties: ["date"] }],
});

export type BookingDay = InferEntity<typeof BookingDay>;
