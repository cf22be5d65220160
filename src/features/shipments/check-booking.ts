import type {
  CreateShipmentRequestValid,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Outcome } from "../../db/group-commit.ts";
import { readRecordId } from "../../db/columns.ts";
import { loadByOwner } from "../../db/by-owner.ts";
import type { Transaction } from "../../db/transaction.ts";
import { MAX_METADATA_KEYS } from "../../domain/limits.ts";
import {
  priceInMajor,
  quote,
  roundKm,
  routeOf,
  type CoveredQuote,
  type Quote,
} from "../../domain/pricing/pricing.ts";
import { fixedViolation, Refusal, refuse, type Violation } from "../../domain/refusal.ts";
import { customerJson, type CustomerRow } from "../customers/customer.entity.ts";
import { type Subscriber, SUBSCRIBERS } from "../events/insert-events.ts";
import { foldEmail } from "../customers/link-customers.ts";
import { VERSION_IN_FORCE } from "../tariffs/versions/load-version.ts";
import type { PricedTariff } from "../tariffs/versions/loaded-tariffs.ts";
import type { Call } from "../../pipeline/call.ts";

/** A call that asks for a booking. */
export interface Booking {
  readonly method: typeof ShipmentService.method.createShipment;
  readonly request: CreateShipmentRequestValid;
  readonly call: Call;
}

/** What the database has that a booking depends on. */
export interface BookingFacts {
  /** The tariff version in force; null while there is none. */
  readonly tariffVersion: number | null;
  readonly providerConnected: boolean;
  /** The reference of the shipment that already has the booking's external reference. */
  readonly takenBy: string | null;
  /** The customer's row, found by id, else by name and email; null when there is none. */
  readonly customer: CustomerRow | null;
  /** The id that a new customer has. */
  readonly newCustomerId: number;
  /** The enabled webhooks of the workspace; null when there is none. */
  readonly subscribers: readonly Subscriber[] | null;
}

/**
 * Loads everything that bookings depend on, in their order, in one round trip: round trips are most
 * of the cost of a booking that is alone in its transaction.
 */
export async function loadBookingFacts(
  tx: Transaction,
  bookings: readonly Booking[],
): Promise<BookingFacts[]> {
  const [found, ids, [inForce]] = await Promise.all([
    loadByOwner(bookings, workspaceOf, (workspace, own) =>
      tx.send<Omit<BookingFacts, "newCustomerId" | "tariffVersion">>(factsOf(own), [
        workspace,
        wantedJson(own),
      ]),
    ),
    tx.send<{ id: number }>(NEW_CUSTOMER_IDS, [bookings.length]),
    tx.send<Pick<BookingFacts, "tariffVersion">>(IN_FORCE, []),
  ]);
  return found.map((facts, i) => ({ ...facts, ...inForce!, newCustomerId: ids[i]!.id }));
}

const workspaceOf = ({ call }: Booking) => call.caller.workspaceId;

function wantedJson(bookings: readonly Booking[]): string {
  return JSON.stringify(
    bookings.map(({ request }, place) => ({
      place,
      externalReference: request.externalReference,
      customerId: readRecordId(request.customerId),
      name: request.customerName,
      email: foldEmail(request.customerEmail),
    })),
  );
}

const IN_FORCE = `select ${VERSION_IN_FORCE} as "tariffVersion"`;

/** A statement of its own: what numbers are taken from is not on the node of a workspace. */
const NEW_CUSTOMER_IDS = `
  select nextval('customer_id_seq')::float8 as id from generate_series(1, $1::int)`;

const customerWhere = (condition: string) => `
    (select ${customerJson("customer")} from customer where workspace_id = $1 and ${condition})`;

/** What bookings name, so that it is looked up. */
interface Lookups {
  readonly byReference: boolean;
  readonly byId: boolean;
}

const TAKEN_BY = `(
  select reference from shipment
  where workspace_id = $1 and external_reference = "externalReference")`;

/**
 * The values come as JSON because PostgreSQL estimates the rows of an array from its value, and so
 * plans anew each time, which takes longer than the rest. The look-ups are subqueries because each
 * is then an index look-up, whatever the estimated number of rows. The condition on the place always
 * holds: with it PostgreSQL expects one row instead of 100, and a plan so cheap that planning anew
 * never seems worth while; without it, it did for a while after the tables had grown.
 */
function factsSql({ byReference, byId }: Lookups): string {
  const byName = customerWhere("customer.name = wanted.name and email_lower = wanted.email");
  return `
  select exists (select from payment_connection where workspace_id = $1) as "providerConnected",
    ${byReference ? TAKEN_BY : "null"} as "takenBy",
    ${byId ? `coalesce(${customerWhere('id = "customerId"')}, ${byName})` : byName} as customer,
    ${SUBSCRIBERS} as subscribers
  from json_to_recordset($2) as wanted
    (place int, "externalReference" text, "customerId" bigint, name text, email text)
  where place between 0 and 1000
  order by place`;
}

/** Each look-up costs, also one that finds nothing, and most bookings need neither. */
const FACTS = [false, true].map((byReference) =>
  [false, true].map((byId) => factsSql({ byReference, byId })),
);

function factsOf(bookings: readonly Booking[]): string {
  const byReference = bookings.some(({ request }) => request.externalReference !== undefined);
  const byId = bookings.some(({ request }) => request.customerId !== undefined);
  return FACTS[Number(byReference)]![Number(byId)]!;
}

/** A booking that has passed every check, with its price. */
export interface AcceptedBooking extends Booking {
  readonly facts: BookingFacts;
  readonly tariffVersion: number;
  readonly priced: CoveredQuote;
  readonly metadata: Metadata;
}

/**
 * Prices a booking and checks it against what the database has.
 *
 * @returns the accepted booking, or a Refusal with every violation of ROUTE_NOT_COVERED,
 * WEIGHT_NOT_SERVED and PAYMENT_PROVIDER_NOT_CONNECTED, else with the first of PRICE_CHANGED,
 * EXTERNAL_REFERENCE_TAKEN and FIELD_INVALID (too much metadata)
 */
export function checkBooking(
  booking: Booking,
  facts: BookingFacts,
  tariff: PricedTariff,
): Outcome<AcceptedBooking> {
  try {
    return { result: acceptBooking(booking, facts, tariff) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error };
    throw error;
  }
}

function acceptBooking(
  booking: Booking,
  facts: BookingFacts,
  { version, pricing }: PricedTariff,
): AcceptedBooking {
  const { request } = booking;
  const result = quote(pricing, routeOf(request));
  const violations = coverageViolations(result);
  if (!facts.providerConnected) {
    violations.push(fixedViolation("PAYMENT_PROVIDER_NOT_CONNECTED"));
  }
  if (violations.length > 0) throw new Refusal(violations as [Violation, ...Violation[]]);
  const priced = result as CoveredQuote;
  assertExpectedPrice(priced, request);
  if (facts.takenBy !== null) throw referenceTakenError(facts.takenBy);
  const metadata = mergeMetadata({}, request.metadata);
  return { ...booking, facts, tariffVersion: version, priced, metadata };
}

function referenceTakenError(shipment: string): Refusal {
  return refuse(
    "EXTERNAL_REFERENCE_TAKEN",
    `external_reference belongs to the shipment ${shipment} already.`,
    { subject: "external_reference", facts: { shipment } },
  );
}

/**
 * Checks the price of a booking against what its caller expects; what is absent is not checked.
 *
 * @throws Refusal PRICE_CHANGED, with the actual price among its facts
 */
function assertExpectedPrice(priced: CoveredQuote, request: CreateShipmentRequestValid): void {
  const price = priceInMajor(priced);
  const { expectedTotal = price.total, expectedCurrency = price.currency } = request;
  if (expectedTotal === price.total && expectedCurrency === price.currency) return;
  throw refuse(
    "PRICE_CHANGED",
    `expected_total is ${expectedTotal} ${expectedCurrency}, but the booking would cost ${price.total} ${price.currency}.`,
    {
      subject: "expected_total",
      facts: {
        distance_km: String(price.distanceKm),
        distance_fee: String(price.distanceFee),
        weight_fee: String(price.weightFee),
        base_fee: String(price.baseFee),
        subtotal: String(price.subtotal),
        total: String(price.total),
        currency: price.currency,
      },
    },
  );
}

/** The columns of a shipment that hold its price, in minor units. */
export function priceColumns(priced: CoveredQuote) {
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFeeMinor: priced.distanceFeeMinor,
    weightFeeMinor: priced.weightFeeMinor,
    baseFeeMinor: priced.baseFeeMinor,
    subtotalMinor: priced.subtotalMinor,
    totalMinor: priced.totalMinor,
    currency: priced.currency,
  };
}

/** Why a route cannot be booked: ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED; empty when it is covered. */
export function coverageViolations(result: Quote): Violation[] {
  if (result.covered) return [];
  return result.failures.map(({ failure, message }) =>
    failure === "coverage"
      ? { reason: "ROUTE_NOT_COVERED", subject: "coverage", text: message }
      : { reason: "WEIGHT_NOT_SERVED", subject: "weight_kg", text: message },
  );
}

/** The caller's own keys and values on a shipment. */
type Metadata = Readonly<Record<string, string>>;

/**
 * Merges given metadata into the current: a given value replaces the current one, an empty value
 * removes its key.
 *
 * @throws Refusal FIELD_INVALID when the result has more than `MAX_METADATA_KEYS` keys
 */
export function mergeMetadata(current: Metadata, given: Metadata): Metadata {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(given)) {
    if (value === "") merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_METADATA_KEYS) {
    throw refuse("FIELD_INVALID", `metadata must have at most ${MAX_METADATA_KEYS} keys.`, {
      subject: "metadata",
    });
  }
  return Object.fromEntries(merged);
}
