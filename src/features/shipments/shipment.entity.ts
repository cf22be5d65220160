import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import {
  CANCEL_REASONS,
  type CancelReason,
  PAYMENTS_OF,
  type PaymentStatus,
  type ShipmentStatus,
} from "../../domain/shipment/shipment-state.ts";
import { Customer } from "../customers/customer.entity.ts";
import { TariffVersion } from "../tariffs/versions/tariff.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** The indexes that serve lists, one for each set of columns that a list is filtered by. */
export type ListIndex =
  | "shipment_by_age"
  | "shipment_by_status"
  | "shipment_by_payment_status"
  | "shipment_by_customer"
  | "shipment_by_customer_and_status"
  | "shipment_by_customer_and_payment_status";

/**
 * Makes PostgreSQL read a list from the index that fits its filters. PostgreSQL has no index hints,
 * and all list indexes are in the order of the list, so by its statistics it may take one that
 * lacks a filtered column and walk past every shipment that the filter leaves out.
 *
 * Each list index is therefore partial, with a predicate of its own that is true of every row: that
 * the reference is not the index's name. PostgreSQL uses a partial index only for queries that
 * state its predicate, so a query that states one predicate can be read from that index alone. The
 * name is a literal: a value apart from the statement would not be known when it is planned.
 *
 * @returns the `where` of the index, and of a query
 * @param table `s.` where the query names its table
 */
export function indexPredicate(index: ListIndex, table = ""): string {
  return `${table}reference <> '${index}'`;
}

/** The pairs of status and payment status that a shipment can have. */
const STATES = Object.entries(PAYMENTS_OF).flatMap(([status, payments]) =>
  payments.map((payment) => `${status} ${payment}`),
);

/** An index in the order of lists, newest last, so that a page is read from wherever it begins. */
function listIndex<Column extends string>(name: ListIndex, ...properties: readonly Column[]) {
  return { name, properties: [...properties], where: indexPredicate(name) };
}

/**
 * A booked delivery. Keyed by workspace and reference, so that a look-up in another workspace finds
 * nothing. Amounts are in minor units of the currency.
 */
export const Shipment = defineEntity({
  name: "Shipment",
  tableName: "shipment",
  primaryKeys: ["workspace", "reference"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    reference: p.text().primary(),
    status: p.text().$type<ShipmentStatus>(),
    paymentStatus: p.text().$type<PaymentStatus>(),
    createdBy: p.text().nullable(),
    customer: () =>
      p
        .manyToOne(Customer)
        // Both keys share the workspace column, so a customer is always of the shipment's workspace.
        .joinColumns("workspace_id", "customer_id")
        .ownColumns("customer_id")
        .updateRule("no action")
        .deleteRule("no action"),
    pickupAddress: p.text(),
    pickupLat: p.double().$type<number>(),
    pickupLng: p.double().$type<number>(),
    dropoffAddress: p.text(),
    dropoffLat: p.double().$type<number>(),
    dropoffLng: p.double().$type<number>(),
    weightKg: p.double().$type<number>(),
    /** Rounded to three decimals. */
    distanceKm: p.double().$type<number>(),
    distanceFeeMinor: p.bigint("number"),
    weightFeeMinor: p.bigint("number"),
    baseFeeMinor: p.bigint("number"),
    subtotalMinor: p.bigint("number"),
    totalMinor: p.bigint("number"),
    currency: p.character().length(3),
    /** The tariff version that priced it. */
    tariff: () => p.manyToOne(TariffVersion).mapToPk().ownColumns("tariff_version"),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    cancelledAt: p.datetime(3).nullable(),
    cancelReason: p.text().$type<CancelReason>().nullable(),
    cancelNote: p.text().nullable(),
    /** The caller's own name for it. */
    externalReference: p.text().nullable(),
    /** The caller's own keys and values. */
    metadata: p.json().$type<Readonly<Record<string, string>>>().defaultRaw("'{}'"),
    /** Whether the booking named the price that had been quoted for it. */
    quoted: p.boolean().default(false),
    /** The number of its last event. */
    eventCount: p.integer().default(0),
    /** Goes up by one with every change; the etag. */
    version: p.integer().version(),
  },
  uniques: [
    { name: "shipment_external_reference", properties: ["workspace", "externalReference"] },
  ],
  indexes: [
    // Of all workspaces, for replaying a tariff.
    { name: "shipment_by_creation", properties: ["createdAt"] },
    listIndex("shipment_by_age", "workspace", "createdAt", "reference"),
    listIndex("shipment_by_status", "workspace", "status", "createdAt", "reference"),
    listIndex("shipment_by_payment_status", "workspace", "paymentStatus", "createdAt", "reference"),
    // The customer's key begins with the workspace.
    listIndex("shipment_by_customer", "customer", "createdAt", "reference"),
    listIndex("shipment_by_customer_and_status", "customer", "status", "createdAt", "reference"),
    listIndex(
      "shipment_by_customer_and_payment_status",
      "customer",
      "paymentStatus",
      "createdAt",
      "reference",
    ),
  ],
  // Few and short, since PostgreSQL reads each anew for every statement that writes.
  checks: [
    { name: "shipment_reference_form", expression: "reference ~ '^SHP-[0-9A-HJKMNP-TV-Z]{12}$'" },
    {
      name: "shipment_statuses_agree",
      expression: `status || ' ' || payment_status in (${quoteAll(STATES)})`,
    },
    {
      name: "shipment_cancelled_when_cancelled",
      expression: `case when status = 'cancelled'
        then cancelled_at is not null and coalesce(cancel_reason, 'other') in (${quoteAll(CANCEL_REASONS)})
        else coalesce(cancelled_at::text, cancel_reason, cancel_note) is null end`,
    },
    { name: "shipment_pickup_in_range", expression: inRange("pickup") },
    { name: "shipment_dropoff_in_range", expression: inRange("dropoff") },
    { name: "shipment_weight", expression: "weight_kg >= 0.01 and weight_kg < 'infinity'" },
    { name: "shipment_distance", expression: "distance_km between 0 and 20016" },
    { name: "shipment_currency_form", expression: "currency ~ '^[A-Z]{3}$'" },
    {
      name: "shipment_amounts_add_up",
      expression:
        "least(distance_fee_minor, weight_fee_minor, base_fee_minor) >= 0 and subtotal_minor = distance_fee_minor + weight_fee_minor and total_minor = greatest(subtotal_minor, base_fee_minor)",
    },
  ],
});

export type Shipment = InferEntity<typeof Shipment>;

function quoteAll(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

function inRange(end: "pickup" | "dropoff"): string {
  return `abs(${end}_lat) <= 90 and abs(${end}_lng) <= 180`;
}
