import type { CreateShipmentRequest, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { loadByOwner } from "../../db/by-owner.ts";
import { readRecordId } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { mergedWithId, mergedWithName } from "../customers/customer-alias.entity.ts";
import { customerJson, type CustomerRow } from "../customers/customer.entity.ts";
import { foldEmail } from "../customers/link-customers.ts";
import { type Subscriber, SUBSCRIBERS } from "../events/insert-events.ts";
import type { NamedQuote } from "../quotes/find-quote.ts";
import { VERSION_IN_FORCE } from "../tariffs/versions/load-version.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ConnectionState } from "../workspaces/payment-connection.entity.ts";
import { countSimulations } from "./booked-simulations.ts";
import type { QuoteFacts } from "./quoted-price.ts";

export interface Booking {
  readonly method: typeof ShipmentService.method.createShipment;
  /** Booking request. Route fields are optional if there is a quote. */
  readonly request: CreateShipmentRequest;
  readonly call: Call;
  /** Quote in the request. `undefined` if there is none or it is invalid. */
  readonly quote: NamedQuote | undefined;
  /** Reference of the new shipment. The same for every attempt, so that each attempt reserves the same places. */
  readonly reference: string;
}

export interface BookingFacts extends QuoteFacts {
  /** Tariff version in force. null if there is none. */
  readonly tariffVersion: number | null;
  /** State of the payment connection. null if no provider is connected. */
  readonly providerState: ConnectionState | null;
  /** Reference of the shipment that already has the booking's external reference, or null. */
  readonly takenBy: string | null;
  /**
   * Customer of the booking, searched by id, then by name and email. Each search also finds merged customers and
   * returns the surviving customer. null if there is no match.
   */
  readonly customer: CustomerRow | null;
  readonly newCustomerId: number;
  /** Enabled webhooks of the workspace. null if there are none. */
  readonly subscribers: readonly Subscriber[] | null;
  /** Number of running simulations in the workspace. 0 if no booking requests a simulation. */
  readonly simulations: number;
}

/** Facts that decide the price of a booking with a quote. */
export type PriceFacts = QuoteFacts & Pick<BookingFacts, "providerState">;

type OwnFacts = Omit<BookingFacts, "newCustomerId" | "tariffVersion" | "voidedBelow" | "simulations">;

/**
 * Loads the data that bookings depend on, in the order of the bookings. Uses one round trip,
 * because round trips dominate the cost of a single booking.
 */
export async function loadBookingFacts(tx: Transaction, bookings: readonly Booking[]): Promise<BookingFacts[]> {
  const [found, ids, [inForce], voidedBelow, simulations] = await Promise.all([
    loadByOwner(bookings, workspaceOf, (workspace, own) =>
      tx.send<OwnFacts>(factsOf(own), [workspace, ...wantedValues(own)]),
    ),
    tx.allocateIds("customer_id_seq", bookings.length),
    tx.send<Pick<BookingFacts, "tariffVersion">>(IN_FORCE, []),
    loadVoidedBelow(tx, bookings),
    countSimulations(tx, bookings),
  ]);
  return found.map((facts, i) => ({
    ...facts,
    ...inForce!,
    voidedBelow,
    newCustomerId: ids[i]!,
    simulations: simulations[i]!,
  }));
}

/** Loads the facts that decide the price of a booking with a quote. */
export async function loadPriceFacts(em: EntityManager, { id, terms }: NamedQuote): Promise<PriceFacts> {
  const [provider] = await runStatement<{ state: ConnectionState }>(em, PROVIDER, [terms.workspace]);
  const [used] = await runStatement<{ reference: string }>(em, USED_QUOTE, [terms.workspace, id]);
  const [row] = await runStatement<Pick<PriceFacts, "voidedBelow">>(em, VOIDED_BELOW, [terms.tariffVersion]);
  return { providerState: provider?.state ?? null, usedBy: used?.reference ?? null, ...row! };
}

/** Returns the highest tariff version that voids any of the named quotes. Skips the query if there are no quotes. */
async function loadVoidedBelow(tx: Transaction, bookings: readonly Booking[]): Promise<number | null> {
  const versions = bookings.flatMap(({ quote }) => quote?.terms.tariffVersion ?? []);
  if (versions.length === 0) return null;
  const [row] = await tx.send<Pick<BookingFacts, "voidedBelow">>(VOIDED_BELOW, [Math.min(...versions)]);
  return row!.voidedBelow;
}

const workspaceOf = ({ call }: Booking) => call.caller.workspaceId;

/** Returns the values of `wanted` in `factsSql`: separate values for one booking, JSON for several. */
function wantedValues(bookings: readonly Booking[]): unknown[] {
  const requests = bookings.map(({ request }, index) => ({
    index,
    externalReference: request.externalReference,
    quoteId: request.quoteId,
    customerId: readRecordId(request.customerId),
    name: request.customerName,
    email: foldEmail(request.customerEmail),
  }));
  return requests.length === 1 ? Object.values(requests[0]!) : [JSON.stringify(requests)];
}

const IN_FORCE = `select ${VERSION_IN_FORCE} as "tariffVersion"`;

const VOIDED_BELOW = `
  select max(version) as "voidedBelow" from tariff_version
  where version > $1 and not honours_quotes
    and effective_at <= statement_timestamp() and called_off_at is null`;

const USED_QUOTE = "select reference from used_quote where workspace_id = $1 and quote_id = $2";

const customerWhere = (condition: string) => `
    select ${customerJson("customer")} as customer from customer
    where workspace_id = $1 and ${condition}`;

const PROVIDER = "(select state from payment_connection where workspace_id = $1)";
const TAKEN_BY = `(
    select reference from shipment where workspace_id = $1 and external_reference = "externalReference")`;
const USED_BY = `(
    select reference from used_quote where workspace_id = $1 and quote_id = "quoteId")`;

const WANTED_ONE = `(
    values ($2::int, $3::text, $4::text, $5::bigint, $6::text, $7::text)
  ) as wanted (index, "externalReference", "quoteId", "customerId", name, email)`;
const WANTED_SEVERAL = `json_to_recordset($2) as wanted
    (index int, "externalReference" text, "quoteId" text, "customerId" bigint, name text, email text)`;

interface Lookups {
  readonly byReference: boolean;
  readonly byId: boolean;
  readonly byQuote: boolean;
  readonly isOne: boolean;
}

/**
 * Returns the statement that loads the facts of one or several bookings.
 *
 * Several bookings are passed as JSON: with array parameters, PostgreSQL would create a new plan for every call, which
 * takes longer than everything else. A single booking is passed as separate values, which is a quarter faster.
 *
 * Lookups are subqueries, so each uses an index regardless of the estimated number of rows. The condition on `index` is
 * always true. It makes PostgreSQL expect one row instead of 100, so that the generic plan looks cheap enough to be
 * reused.
 */
function factsSql({ byReference, byId, byQuote, isOne }: Lookups): string {
  const byName = customerWhere("customer.name = wanted.name and email_lower = wanted.email");
  const lookups = [
    ...(byId ? [customerWhere('id = "customerId"'), mergedWithId('"customerId"')] : []),
    byName,
    mergedWithName("wanted.name", "wanted.email"),
  ];
  // PostgreSQL evaluates the lookups in order and stops at the first match.
  const customer = `coalesce(${lookups.map((lookup) => `(${lookup})`).join(", ")})`;
  return `
  select ${PROVIDER} as "providerState",
    ${byReference ? TAKEN_BY : "null"} as "takenBy",
    ${byQuote ? USED_BY : "null"} as "usedBy",
    ${customer} as customer,
    ${SUBSCRIBERS} as subscribers
  from ${isOne ? WANTED_ONE : WANTED_SEVERAL}
  where index between 0 and 1000
  order by index`;
}

/**
 * Statements, indexed by the bits of `key` below. Each lookup takes time even without a match, and most bookings need
 * few lookups.
 */
const factsSqls: string[] = [];

function factsOf(bookings: readonly Booking[]): string {
  const names = (field: "externalReference" | "customerId" | "quoteId") =>
    bookings.some(({ request }) => request[field] !== undefined);
  const byReference = names("externalReference");
  const byId = names("customerId");
  const byQuote = names("quoteId");
  const isOne = bookings.length === 1;
  const key = (byReference ? 1 : 0) | (byId ? 2 : 0) | (byQuote ? 4 : 0) | (isOne ? 8 : 0);
  return (factsSqls[key] ??= factsSql({ byReference, byId, byQuote, isOne }));
}
