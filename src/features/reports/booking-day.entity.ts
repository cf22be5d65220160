import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Figures of the bookings in one hour: the hour from 0 to 23, the values of `FIGURE_NAMES`, a value of `GROUPED_BY`,
 * and the name of the courier or zone.
 */
type BookedHour = readonly [...figures: number[], kind: number, name: string | null];

/**
 * Precomputed figures of a workspace's bookings on one day and in one currency, used by reports. `BookingRollUp`
 * records which bookings are counted. Days without bookings have no row.
 */
export const BookingDay = defineEntity({
  name: "BookingDay",
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
    /** Figures by hour, for days in other time zones. Hours without bookings are omitted. */
    hours: p.json().$type<readonly BookedHour[]>(),
    /** Figures by hour and courier, and by hour and zone. Separate, because earlier releases sum up `hours`. */
    groupedHours: p.json().$type<readonly BookedHour[]>().defaultRaw("'[]'"),
  },
  // Index for platform reports, which read all workspaces.
  indexes: [{ name: "booking_day_by_date", properties: ["date"] }],
});

export type BookingDay = InferEntity<typeof BookingDay>;
