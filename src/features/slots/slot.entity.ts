import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/**
 * Counter of a slot's shipments, including places held by quotes. A platform table, because a distributed database then
 * has a single counter for all workspaces. Test twins have their own counters.
 */
export const Slot = defineEntity({
  name: "Slot",
  checks: [
    { name: "slot_count_not_negative", expression: "shipments >= 0 and milligrams >= 0" },
    { name: "slot_capacity_not_negative", expression: "capacity >= 0" },
  ],
  properties: {
    /** Test twin or `live`, start and end in milliseconds since the epoch, and name of the schedule. */
    id: p.text().primary(),
    /** Test twin whose shipments are counted. null for live workspaces. */
    twinId: p.bigint("number").nullable().index("slot_by_twin"),
    schedule: p.text(),
    startsAt: p.datetime(3).index("slot_by_start"),
    endsAt: p.datetime(3),
    /** Number of reserved places, including held ones. */
    shipments: p.integer().default(0),
    /** Weight of the reserved places. */
    milligrams: p.bigint("number").default(0),
    /** Capacity that an operator has set instead of the tariff's. 0 if the slot is closed. */
    capacity: p.integer().nullable(),
  },
});

export type Slot = InferEntity<typeof Slot>;

/**
 * A place in a slot, held by a quote or taken by a shipment. The shipment is written in another transaction, possibly
 * on another node. Until that transaction is known to be committed, `checkAt` is set. At that time, `reclaimSlots`
 * compares the reservation with the shipment.
 */
export const SlotReservation = defineEntity({
  name: "SlotReservation",
  primaryKeys: ["slot", "holder"],
  properties: {
    slot: () => p.manyToOne(Slot).mapToPk().primary().updateRule("no action").deleteRule("cascade"),
    /** Quote id, or the reference of a shipment that was booked without a quote. */
    holder: p.text().primary().index("slot_reservation_by_holder"),
    workspaceId: p.bigint("number"),
    /** null for a quote that has not been booked. */
    reference: p.text().nullable(),
    milligrams: p.bigint("number"),
    /** Identifies the last call that changed the reservation, so that an earlier call does not release it. */
    attempt: p.uuid(),
    /** Time at which an unpaid shipment is cancelled. null if it keeps its place. */
    payBy: p.datetime(3).nullable(),
    /** Time of the next comparison with the shipment. null if none is needed. */
    checkAt: p.datetime(3).nullable().index("slot_reservation_to_check"),
  },
});

export type SlotReservation = InferEntity<typeof SlotReservation>;
