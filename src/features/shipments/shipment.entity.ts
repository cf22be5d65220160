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
import { REFERENCE_ALPHABET, REFERENCE_PREFIX } from "../../domain/shipment/shipment-reference.ts";
import { MAX_WRONG_PINS, type StoredVerification } from "../../domain/shipment/delivery-proof.ts";
import type { DeliveryProgress } from "../../domain/shipment/delivery-progress.ts";
import type { PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { Customer } from "../customers/customer.entity.ts";
import { TariffVersion } from "../tariffs/versions/tariff.entity.ts";
import type { StoredWindows } from "./shipment-windows.ts";
import { UNCOUNTED } from "../workspaces/open-payments.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * The indexes that serve lists. Those by status and by customer have shipments of one state in the order of time; what
 * is of several states is read from several places of them, because each index of a table costs every booking.
 */
export type ListIndex =
  | "shipment_by_age"
  | "shipment_by_status"
  | "shipment_by_customer"
  | "shipment_failed"
  | "shipment_failed_of_customer"
  | "shipment_attempted"
  | "shipment_due_by_total"
  | "shipment_due_by_pickup";

/** All but the index that has every shipment. */
type PartialListIndex = Exclude<ListIndex, "shipment_by_customer">;

/**
 * Of shipments of which something is due: to be paid, picked up, delivered or refunded. Those that have come to
 * their end leave the indexes of these, so that what sorts a queue stays small; the few that were returned stay.
 */
const DUE = `status <> 'delivered' and payment_status not in ('voided', 'refunded')`;

/** Of shipments that need somebody's hand, as their payment's provider tells; of none that it says nothing of. */
export const FAILED = `(${[
  "payment_details ->> 'dispute' = 'open'",
  "payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null",
  "payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null",
  UNCOUNTED,
].join(" or ")})`;

/** Of shipments that failed attempts or wrong PINs have not ended. */
const ATTEMPTED = `status in ('awaiting_pickup', 'in_transit') and (jsonb_array_length(progress -> 'attempts') >= 2 or progress ->> 'wrongPins' = '${MAX_WRONG_PINS}')`;

/** What the rows of an index have in common, where that is not all of them. */
const ROWS_OF: Partial<Record<ListIndex, string>> = {
  shipment_failed: FAILED,
  shipment_failed_of_customer: FAILED,
  shipment_attempted: ATTEMPTED,
  shipment_due_by_total: DUE,
  shipment_due_by_pickup: DUE,
};

/** What lists are sorted by besides time: when a pickup window begins, empty for as soon as possible. */
export const PICKUP_KEY = `coalesce(windows #>> '{pickup,start}', '') collate "C"`;

/**
 * Makes PostgreSQL read a list from the index that fits its filters. PostgreSQL has no index hints,
 * and all list indexes are in the order of the list, so by its statistics it may take one that
 * lacks a filtered column and walk past every shipment that the filter leaves out.
 *
 * Each list index is therefore partial, with a predicate of its own that is true of every row: that
 * the reference is not the index's name. PostgreSQL uses a partial index only for queries that
 * state its predicate, so a query that states one predicate can be read from that index alone. The
 * name is a literal: a value apart from the statement would not be known when it is planned. That of
 * customers alone has all rows: nothing else has customers, and PostgreSQL looks in it for what refers
 * to a customer who is deleted.
 *
 * @returns the `where` of the index, and of a query
 */
export function indexPredicate(index: PartialListIndex): string {
  const rows = ROWS_OF[index];
  return `${rows === undefined ? "" : `${rows} and `}reference <> '${index}'`;
}

/** The texts that shipments are searched by, besides the reference and the customer; the last digits of phones reversed. */
export const SHIPMENT_TEXTS = [
  "external_reference",
  "dropoff_address",
  "pickup_address",
  "cancel_note",
  "recipient_name",
  "recipient_phone",
  `'${REVERSED_MARK}' || reverse(recipient_phone)`,
  "recipient_email",
  "progress #>> '{courier,name}'",
  "progress #>> '{courier,phone}'",
  `'${REVERSED_MARK}' || reverse(progress #>> '{courier,phone}')`,
  "progress #>> '{courier,externalId}'",
  String.raw`left(replace(replace(jsonb_path_query_array(metadata, '$.*')::text, '\n', ' '), '\t', ' '), 2000)`,
];

/** References are random, so their first characters divide shipments evenly. */
export const SHIPMENT_WORDS = wordIndex(
  "shipment",
  SHIPMENT_TEXTS,
  `substr(reference, ${REFERENCE_PREFIX.length + 1}, 1)`,
  `string_to_array('${REFERENCE_ALPHABET}', null)`,
);

/** An index of what is due in one state, in the order of a key, the newest of equals last. */
function dueIndex(name: PartialListIndex, key: string) {
  return {
    name,
    expression: `create index "${name}" on "shipment" ("workspace_id", "status", (${key}), "created_at", "reference") where ${indexPredicate(name)}`,
  };
}

/** An index in the order of lists, newest last, so that a page is read from wherever it begins. */
function listIndex<Column extends string>(
  name: PartialListIndex,
  ...properties: readonly Column[]
) {
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
    /** What its windows cost, which is part of the total. */
    windowFeeMinor: p.bigint("number").default(0),
    /** The booked windows, which are instants; null when there are none. */
    windows: p.json().$type<StoredWindows>().nullable(),
    currency: p.character().length(3),
    /** The tariff version that priced it. */
    tariff: () => p.manyToOne(TariffVersion).mapToPk().ownColumns("tariff_version"),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    cancelledAt: p.datetime(3).nullable(),
    /** Null for one that was delivered before this was kept, too. */
    deliveredAt: p.datetime(3).nullable(),
    returnedAt: p.datetime(3).nullable(),
    cancelReason: p.text().$type<CancelReason>().nullable(),
    cancelNote: p.text().nullable(),
    externalReference: p.text().nullable(),
    recipientName: p.text().nullable(),
    recipientPhone: p.text().nullable(),
    recipientEmail: p.text().nullable(),
    recipientLocale: p.text().nullable(),
    metadata: p.json().$type<Readonly<Record<string, string>>>().defaultRaw("'{}'"),
    quoteId: p.text().nullable(),
    /** What the payment provider says of its payment; null while that has said nothing. */
    paymentDetails: p.json().$type<PaymentDetails>().nullable(),
    /** What its courier's system reports; null while that has said nothing. */
    progress: p.json().$type<DeliveryProgress>().nullable(),
    /** Null for none. */
    verification: p.json().$type<StoredVerification>().nullable(),
    /** Whether the booking had a quote: it named its id or its price. */
    quoted: p.boolean().default(false),
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
    listIndex(
      "shipment_by_status",
      "workspace",
      "status",
      "paymentStatus",
      "createdAt",
      "reference",
    ),
    {
      // Has all that figures of customers are made of, so that these are read from it alone.
      name: "shipment_by_customer",
      expression: `create index "shipment_by_customer" on "shipment" ("workspace_id", "customer_id", "status", "payment_status", "created_at", "reference") include ("currency", "total_minor")`,
    },
    // By payment, so that unpaid shipments do not slow the search for failures.
    listIndex("shipment_failed", "workspace", "paymentStatus", "createdAt", "reference"),
    // The customer's key begins with the workspace.
    listIndex("shipment_failed_of_customer", "customer", "createdAt", "reference"),
    {
      name: "shipment_uncounted",
      properties: ["workspace", "createdAt", "reference"],
      where: UNCOUNTED,
    },
    listIndex("shipment_attempted", "workspace", "createdAt", "reference"),
    dueIndex("shipment_due_by_total", "total_minor"),
    dueIndex("shipment_due_by_pickup", PICKUP_KEY),
    {
      name: "shipment_words",
      expression: `create index "shipment_words" on "shipment" using gin ((${SHIPMENT_WORDS.words})) with (gin_pending_list_limit = 64)`,
    },
  ],
  // Few and short, since PostgreSQL reads each anew for every statement that writes.
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
      expression:
        "(delivered_at is null or status = 'delivered') and (returned_at is null or status = 'returned')",
    },
    { name: "shipment_pickup_in_range", expression: inRange("pickup") },
    { name: "shipment_dropoff_in_range", expression: inRange("dropoff") },
    { name: "shipment_weight", expression: "weight_kg >= 0.01 and weight_kg < 'infinity'" },
    { name: "shipment_distance", expression: "distance_km between 0 and 20016" },
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

function inRange(end: "pickup" | "dropoff"): string {
  return `abs(${end}_lat) <= 90 and abs(${end}_lng) <= 180`;
}

/** The shipment by which a row is known in its workspace, of what there is one of for each shipment at most. */
export function ofShipment() {
  return p
    .manyToOne(Shipment)
    .primary()
    .joinColumns("workspace_id", "shipment_reference")
    .ownColumns("shipment_reference")
    .updateRule("no action");
}
