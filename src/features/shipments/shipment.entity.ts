import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import {
  CANCEL_REASONS,
  type CancelReason,
  type PaymentStatus,
  type ShipmentStatus,
  STATES,
} from "../../domain/shipment/shipment-state.ts";
import { wordIndex } from "../../db/words.ts";
import { REVERSED_MARK } from "../../domain/search-text.ts";
import { MAX_WRONG_PINS, type StoredVerification } from "../../domain/shipment/delivery-proof.ts";
import type { End } from "../../domain/route-ends.ts";
import {
  type DropoffHandover,
  HANDOVERS,
  type Item,
  UNDELIVERABLE_ACTIONS,
  type UndeliverableAction,
} from "../../domain/shipment/delivery-details.ts";
import type { DeliveryProgress } from "../../domain/shipment/delivery-progress.ts";
import type { PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { Customer } from "../customers/customer.entity.ts";
import { TariffVersion } from "../tariffs/versions/tariff.entity.ts";
import type { StoredWindows } from "./shipment-windows.ts";
import { UNCOUNTED } from "../workspaces/open-payments.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Indexes that serve lists. The indexes by status and customer are sorted by state, then by time. A list of several
 * states reads several ranges, because every additional index would slow down bookings.
 */
export type ListIndex =
  | "shipment_by_age"
  | "shipment_by_status"
  | "shipment_by_customer"
  | "shipment_failed"
  | "shipment_failed_of_customer"
  | "shipment_attempted"
  | "shipment_by_courier"
  | "shipment_unassigned"
  | "shipment_due_by_total"
  | "shipment_due_by_pickup";

/** List indexes with a condition. The index by customer contains all rows. */
type PartialListIndex = Exclude<ListIndex, "shipment_by_customer">;

/**
 * Matches shipments that still need payment, pickup, delivery or a refund. These indexes do not contain completed
 * shipments, which keeps them small. Returned shipments stay in them, because there are few.
 */
const DUE = `status <> 'delivered' and payment_status not in ('voided', 'refunded')`;

/** Matches shipments whose payment details require attention. */
export const FAILED = `(${[
  "payment_details ->> 'dispute' = 'open'",
  "payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null",
  "payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null",
  UNCOUNTED,
].join(" or ")})`;

/** Matches unfinished shipments with a failed attempt or a locked PIN. */
const ATTEMPTED = `status in ('awaiting_pickup', 'in_transit') and (jsonb_array_length(progress -> 'attempts') >= 1 or progress ->> 'wrongPins' = '${MAX_WRONG_PINS}')`;

/** Id of the assigned courier in the workspace. */
export const COURIER_KEY = "progress #>> '{courier,courierId}'";

/** Matches shipments that need a courier. */
export const UNASSIGNED = `status in ('awaiting_pickup', 'in_transit') and progress #>> '{courier,name}' is null`;

const ROWS_OF: Partial<Record<ListIndex, string>> = {
  shipment_failed: FAILED,
  shipment_failed_of_customer: FAILED,
  shipment_attempted: ATTEMPTED,
  shipment_by_courier: `${COURIER_KEY} is not null`,
  shipment_unassigned: UNASSIGNED,
  shipment_due_by_total: DUE,
  shipment_due_by_pickup: DUE,
};

/** Start of the pickup window as a sort key. Empty without a window. */
export const PICKUP_KEY = `coalesce(windows #>> '{pickup,start}', '') collate "C"`;

/**
 * Makes PostgreSQL read a list from the index that matches its filters. PostgreSQL has no index hints, and all list
 * indexes have the same order. Based on statistics, it may choose an index that lacks a filtered column and then scan
 * past every excluded shipment.
 *
 * Each list index is therefore partial, with a unique condition that is always true: the reference differs from the
 * index's name. PostgreSQL uses a partial index only for queries that contain its condition, so such a query can use
 * only that index. The name is a literal, because the planner does not know parameter values. The index by customer
 * contains all rows, because PostgreSQL also uses it to check foreign keys when customers are deleted.
 *
 * @returns the `where` condition of the index and of its queries
 */
export function indexPredicate(index: PartialListIndex): string {
  const rows = ROWS_OF[index];
  return `${rows === undefined ? "" : `${rows} and `}reference <> '${index}'`;
}

/**
 * Searched texts of a shipment besides the reference and the customer. Phone numbers are also
 * reversed, to search their last digits.
 */
export const SHIPMENT_TEXTS = [
  "external_reference",
  "dropoff_address",
  "pickup_address",
  "cancel_note",
  "recipient_name",
  "recipient_phone",
  `'${REVERSED_MARK}' || reverse(recipient_phone)`,
  "recipient_email",
  "pickup_contact_name",
  "pickup_contact_phone",
  `'${REVERSED_MARK}' || reverse(pickup_contact_phone)`,
  "pickup_instructions",
  "dropoff_instructions",
  "package_description",
  "left(jsonb_path_query_array(items, '$[*].name')::text, 2000)",
  "left(jsonb_path_query_array(items, '$[*].externalId')::text, 2000)",
  "progress #>> '{courier,name}'",
  "progress #>> '{courier,phone}'",
  `'${REVERSED_MARK}' || reverse(progress #>> '{courier,phone}')`,
  "progress #>> '{courier,externalId}'",
  String.raw`left(replace(replace(jsonb_path_query_array(metadata, '$.*')::text, '\n', ' '), '\t', ' '), 2000)`,
];

const WEEK_SECONDS = 7 * 24 * 60 * 60;
const WEEK = `floor(extract(epoch from created_at at time zone 'UTC') / ${WEEK_SECONDS})::int`;

/**
 * Word index of shipments, divided by week of booking. Shipments of a week are stored next to each other, and
 * PostgreSQL intersects words in adjacent rows in a third of the time.
 */
export const SHIPMENT_WORDS = wordIndex(
  "shipment",
  SHIPMENT_TEXTS,
  `${WEEK}::text`,
  `array(
    with recursive booked as (
      (${newestBooked("")})
      union all
      select (${newestBooked(`and created_at < to_timestamp(booked.week * ${WEEK_SECONDS})`)})
      from booked where week is not null)
    select week::text from booked where week is not null)`,
);

/** Returns SQL for the newest week in which shipments of workspace `$1` were booked. */
function newestBooked(condition: string): string {
  return `select ${WEEK} as week from shipment
    where workspace_id = $1 and ${indexPredicate("shipment_by_age")} ${condition}
    order by created_at desc, reference desc limit 1`;
}

/** Returns an index of due shipments by state and key. Equal keys are sorted by time, newest last. */
function dueIndex(name: PartialListIndex, key: string) {
  return {
    name,
    expression: `create index "${name}" on "shipment" ("workspace_id", "status", (${key}), "created_at", "reference") where ${indexPredicate(name)}`,
  };
}

/** Returns an index in time order, newest last. A page can start at any row. */
function listIndex<Column extends string>(name: PartialListIndex, ...properties: readonly Column[]) {
  return { name, properties: [...properties], where: indexPredicate(name) };
}

/**
 * A booked delivery. The key contains the workspace, so a lookup in another workspace finds
 * nothing. Amounts are in minor units of the currency.
 */
export const Shipment = defineEntity({
  name: "Shipment",
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
        // Both keys share the workspace column, so a customer always belongs to the shipment's workspace.
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
    /** Name of the dropoff's zone at the time of booking, for reports. null in older bookings. */
    dropoffZone: p.text().nullable(),
    weightKg: p.double().$type<number>(),
    /** Distance in kilometers, rounded to three decimals. */
    distanceKm: p.double().$type<number>(),
    distanceFeeMinor: p.bigint("number"),
    weightFeeMinor: p.bigint("number"),
    baseFeeMinor: p.bigint("number"),
    subtotalMinor: p.bigint("number"),
    totalMinor: p.bigint("number"),
    /** Fee for the windows, included in the total. */
    windowFeeMinor: p.bigint("number").default(0),
    windows: p.json().$type<StoredWindows>().nullable(),
    currency: p.character().length(3),
    tariff: () => p.manyToOne(TariffVersion).mapToPk().ownColumns("tariff_version"),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    cancelledAt: p.datetime(3).nullable(),
    /** Time of delivery. Also null for old deliveries without a recorded time. */
    deliveredAt: p.datetime(3).nullable(),
    returnedAt: p.datetime(3).nullable(),
    cancelReason: p.text().$type<CancelReason>().nullable(),
    cancelNote: p.text().nullable(),
    externalReference: p.text().nullable(),
    recipientName: p.text().nullable(),
    recipientPhone: p.text().nullable(),
    recipientEmail: p.text().nullable(),
    recipientLocale: p.text().nullable(),
    pickupContactName: p.text().nullable(),
    pickupContactPhone: p.text().nullable(),
    pickupInstructions: p.text().nullable(),
    dropoffInstructions: p.text().nullable(),
    packageCount: p.integer().default(1),
    packageDescription: p.text().nullable(),
    items: p.json().$type<readonly Item[]>().defaultRaw("'[]'"),
    dropoffHandover: p.text().$type<DropoffHandover>().default(HANDOVERS[0]),
    ifUndeliverable: p.text().$type<UndeliverableAction>().default(UNDELIVERABLE_ACTIONS[0]),
    /** Number of changes of the dropoff instructions by the recipient. */
    recipientEdits: p.integer().default(0),
    metadata: p.json().$type<Readonly<Record<string, string>>>().defaultRaw("'{}'"),
    quoteId: p.text().nullable(),
    /** Payment details from the provider. null until the provider reports some. */
    paymentDetails: p.json().$type<PaymentDetails>().nullable(),
    /** Progress reported by the courier's system. null until the system reports some. */
    progress: p.json().$type<DeliveryProgress>().nullable(),
    /** Required verification at the dropoff. null if none is required. */
    verification: p.json().$type<StoredVerification>().nullable(),
    /** Whether the booking named a quote or an expected price. */
    quoted: p.boolean().default(false),
    eventCount: p.integer().default(0),
    /** Version, incremented by each change with an event. Used as the etag. */
    version: p.integer().version(),
  },
  uniques: [{ name: "shipment_external_reference", properties: ["workspace", "externalReference"] }],
  indexes: [
    // Serves tariff replays, which read all workspaces.
    { name: "shipment_by_creation", properties: ["createdAt"] },
    listIndex("shipment_by_age", "workspace", "createdAt", "reference"),
    listIndex("shipment_by_status", "workspace", "status", "paymentStatus", "createdAt", "reference"),
    {
      // Contains all columns for the figures of customers.
      name: "shipment_by_customer",
      expression: `create index "shipment_by_customer" on "shipment" ("workspace_id", "customer_id", "status", "payment_status", "created_at", "reference") include ("currency", "total_minor")`,
    },
    // Sorted by payment status, so that failure searches can skip unpaid shipments.
    listIndex("shipment_failed", "workspace", "paymentStatus", "createdAt", "reference"),
    // The key of a customer includes the workspace.
    listIndex("shipment_failed_of_customer", "customer", "createdAt", "reference"),
    {
      name: "shipment_uncounted",
      properties: ["workspace", "createdAt", "reference"],
      where: UNCOUNTED,
    },
    listIndex("shipment_attempted", "workspace", "createdAt", "reference"),
    {
      name: "shipment_by_courier",
      expression: `create index "shipment_by_courier" on "shipment" ("workspace_id", (${COURIER_KEY}), "status", "payment_status", "created_at", "reference") where ${indexPredicate("shipment_by_courier")}`,
    },
    listIndex("shipment_unassigned", "workspace", "createdAt", "reference"),
    dueIndex("shipment_due_by_total", "total_minor"),
    dueIndex("shipment_due_by_pickup", PICKUP_KEY),
    {
      name: "shipment_words",
      expression: `create index "shipment_words" on "shipment" using gin ((${SHIPMENT_WORDS.words})) with (gin_pending_list_limit = 64)`,
    },
  ],
  // There are few, short constraints, because PostgreSQL parses them for every statement that writes.
  checks: [
    { name: "shipment_reference_form", expression: "reference ~ '^SHP-[0-9A-HJKMNP-TV-Z]{12}$'" },
    {
      name: "shipment_statuses_agree",
      expression: `status || ' ' || payment_status in (${quoteAll(STATES.map(({ status, paymentStatus }) => `${status} ${paymentStatus}`))})`,
    },
    {
      name: "shipment_cancelled_when_cancelled",
      expression: `case when status = 'cancelled'
        then cancelled_at is not null and coalesce(cancel_reason, 'other') in (${quoteAll(CANCEL_REASONS)})
        else coalesce(cancelled_at::text, cancel_reason, cancel_note) is null end`,
    },
    {
      name: "shipment_ended_when_ended",
      expression: "(delivered_at is null or status = 'delivered') and (returned_at is null or status = 'returned')",
    },
    { name: "shipment_pickup_in_range", expression: inRange("pickup") },
    { name: "shipment_dropoff_in_range", expression: inRange("dropoff") },
    { name: "shipment_weight", expression: "weight_kg >= 0.01 and weight_kg < 'infinity'" },
    { name: "shipment_distance", expression: "distance_km between 0 and 20016" },
    {
      name: "shipment_details",
      expression: `package_count between 1 and 100 and dropoff_handover in (${quoteAll(HANDOVERS)}) and if_undeliverable in (${quoteAll(UNDELIVERABLE_ACTIONS)})`,
    },
    { name: "shipment_currency_form", expression: "currency ~ '^[A-Z]{3}$'" },
    {
      name: "shipment_amounts_add_up",
      expression:
        "least(distance_fee_minor, weight_fee_minor, base_fee_minor, window_fee_minor) >= 0 and subtotal_minor = distance_fee_minor + weight_fee_minor and total_minor = greatest(subtotal_minor, base_fee_minor) + window_fee_minor",
    },
  ],
});

export type Shipment = InferEntity<typeof Shipment>;

function quoteAll(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

function inRange(end: End): string {
  return `abs(${end}_lat) <= 90 and abs(${end}_lng) <= 180`;
}

/** Returns the primary key column of a table with at most one row per shipment. */
export function ofShipment() {
  return p
    .manyToOne(Shipment)
    .primary()
    .joinColumns("workspace_id", "shipment_reference")
    .ownColumns("shipment_reference")
    .updateRule("no action");
}
