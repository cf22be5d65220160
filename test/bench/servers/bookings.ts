/**
 * Implementation of the Fastify and gRPC peers. It does the product's work with handwritten SQL and
 * prepared statements, and shares the product's domain code for coverage and price. It writes the
 * same rows. The environment provides DATABASE_URL and ACCOUNTS.
 */
import { randomInt } from "node:crypto";
import pg from "pg";
import { breakDown } from "../../../src/domain/pricing/breakdown.ts";
import { createPricing, quote, roundKm, zoneOf } from "../../../src/domain/pricing/pricing.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";
import { SQL } from "./booking-sql.ts";
import { callerKeyOf } from "./peer.ts";

/** A row by column name. A shipment's row includes its customer's columns. */
export type Row = Readonly<Record<string, any>>;

export class Refused extends Error {}

const PAGE_SIZE = 25;
const REFERENCE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// Parses int8 as a number, because all ids and amounts are safe integers.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
/** Pool with as many connections as the product's. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL!, max: 20 });
const tariffs = await pool.query<Row>("select document from tariff_version");
/** Prices for the only tariff. */
const pricing = createPricing(parseTariff(tariffs.rows[0]!.document).tariff!);

type Run = (statement: keyof typeof SQL, ...values: unknown[]) => Promise<Row[]>;

/** Returns a function that runs a workspace's statements. Each is prepared once per connection. */
function runOn(on: pg.Pool | pg.PoolClient, workspace: number): Run {
  return async (name, ...values) =>
    (await on.query<Row>({ name, text: SQL[name], values: [workspace, ...values] })).rows;
}

async function transaction<T>(workspace: number, work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const done = await work(runOn(client, workspace));
    await client.query("commit");
    return done;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** Returns a route's price as shipment columns. */
export function priceOf(route: Row) {
  const priced = quote(pricing, {
    pickup: { lat: route.pickup_lat, lng: route.pickup_lng },
    dropoff: { lat: route.dropoff_lat, lng: route.dropoff_lng },
    weightKg: route.weight_kg,
  });
  if (!priced.covered) throw new Refused(priced.failures[0].message);
  return {
    distance_km: roundKm(priced.distanceKm),
    distance_fee_minor: priced.distanceFeeMinor,
    weight_fee_minor: priced.weightFeeMinor,
    base_fee_minor: priced.baseFeeMinor,
    subtotal_minor: priced.subtotalMinor,
    total_minor: priced.totalMinor,
    currency: priced.currency,
  };
}

export async function book(workspace: number, body: Row): Promise<Row> {
  return transaction(workspace, async (run) => {
    const [inForce] = await run("inForce");
    if (inForce!.provider === null) throw new Refused("There is no payment provider.");
    const at = new Date();
    const price = priceOf(body);
    const customer = await linkCustomer(run, body, at);
    const { pickup_lat, pickup_lng, dropoff_lat, dropoff_lng, weight_kg } = body;
    const pickup = [body.pickup_address.trim(), pickup_lat, pickup_lng];
    const dropoff = [body.dropoff_address.trim(), dropoff_lat, dropoff_lng];
    const shipment = [createReference(), customer.customer_id, ...pickup, ...dropoff, weight_kg];
    const zone = zoneOf(pricing, { lat: dropoff_lat, lng: dropoff_lng })!.name;
    const values = [...shipment, ...Object.values(price), inForce!.tariff, at, zone];
    const [booked] = await run("insertShipment", ...values);
    const row = { ...booked, ...customer };
    await insertEvents(run, workspace, row, ["shipment.created"]);
    return row;
  });
}

async function linkCustomer(run: Run, body: Row, at: Date): Promise<Row> {
  const [name, email] = [body.customer_name.trim(), body.customer_email.trim()];
  const link = () => run("linkCustomer", name, email.toLowerCase(), email, at);
  // If another transaction has just inserted this customer, the second attempt finds it.
  return (await link())[0] ?? (await link())[0]!;
}

function createReference(): string {
  const characters = Array.from({ length: 12 }, () => REFERENCE_CHARACTERS[randomInt(32)]);
  return `SHP-${characters.join("")}`;
}

export async function get(workspace: number, reference: string): Promise<Row> {
  const [row] = await runOn(pool, workspace)("getShipment", reference);
  return row ?? refuse("Shipment not found.");
}

/** Returns a page of the newest shipments and the next page token. */
export async function list(workspace: number): Promise<{ page: Row[]; nextPageToken: string }> {
  const rows = await runOn(pool, workspace)("listShipments", PAGE_SIZE + 1);
  const page = rows.slice(0, PAGE_SIZE);
  const last = rows.length > PAGE_SIZE ? page.at(-1) : undefined;
  const position = JSON.stringify([last?.created_at, last?.reference]);
  const nextPageToken = last === undefined ? "" : Buffer.from(position).toString("base64url");
  return { page, nextPageToken };
}

export async function cancel(workspace: number, reference: string): Promise<Row> {
  return change(workspace, reference, (row, at) => ({
    ...nextState(row, "cancelled", { pending: "voided", awaiting_pickup: "refund_pending" }),
    cancelled_at: at,
  }));
}

/** Advances a shipment by one step. */
export async function advance(workspace: number, reference: string): Promise<Row> {
  return change(workspace, reference, (row) =>
    row.status === "in_transit"
      ? nextState(row, "delivered", { in_transit: "paid" })
      : nextState(row, "in_transit", { awaiting_pickup: "paid" }),
  );
}

/** Adds metadata to a shipment. */
export async function update(workspace: number, reference: string, metadata: object): Promise<Row> {
  return change(workspace, reference, (row) => {
    if (["delivered", "cancelled"].includes(row.status)) refuse(`The shipment is ${row.status}.`);
    return { types: ["shipment.updated"], metadata: { ...row.metadata, ...metadata } };
  });
}

/** Records a payment and returns it. */
export async function pay(workspace: number, reference: string, { amount, currency }: Row) {
  const [connection] = await runOn(pool, workspace)("provider");
  const provider = connection?.provider ?? "manual";
  const row = await change(workspace, reference, async (unpaid, at, run) => {
    const { total_minor } = unpaid;
    const isTotal = toDollars(total_minor) === amount && unpaid.currency === currency;
    if (!isTotal) refuse("amount must be the total.");
    const { types, ...state } = nextState(unpaid, "awaiting_pickup", { pending: "paid" });
    await run("insertPayment", reference, provider, total_minor, currency, at);
    return { types: ["shipment.paid", ...types], ...state };
  });
  const payment = { provider, amount, currency, paid_at: row.updated_at, refunded_at: null };
  return { row, payment };
}

/** Changed columns of a shipment, and the types of the resulting events. */
type Changes = Row & { readonly types: string[] };

/** Returns the changes to a status. `payments` contains the new payment status by previous status. */
function nextState(row: Row, status: string, payments: Readonly<Record<string, string>>): Changes {
  const payment_status = payments[row.status] ?? refuse(`The shipment is ${row.status}.`);
  return { types: [`shipment.${status}`], status, payment_status };
}

async function change(
  workspace: number,
  reference: string,
  changesOf: (row: Row, at: Date, run: Run) => Changes | Promise<Changes>,
): Promise<Row> {
  return transaction(workspace, async (run) => {
    const [row] = await run("lockShipment", reference);
    if (row === undefined) return refuse("Shipment not found.");
    const at = new Date();
    const { types, ...changes } = await changesOf(row, at, run);
    const counts = { event_count: row.event_count + types.length, version: row.version + 1 };
    const changed: Row = { ...row, ...changes, ...counts, updated_at: at };
    const { status, payment_status, cancelled_at, metadata, event_count } = changed;
    const state = [status, payment_status, cancelled_at, metadata, at, event_count];
    await run("updateShipment", reference, ...state);
    await insertEvents(run, workspace, changed, types);
    return changed;
  });
}

async function insertEvents(run: Run, workspace: number, row: Row, types: string[]): Promise<void> {
  const data = JSON.stringify(eventData(row));
  const key = JSON.stringify(callerKeyOf(workspace));
  await run("insertEvents", row.reference, types, row.event_count, data, row.updated_at, key);
}

/** Returns a shipment as events store it: the product's protobuf JSON, without empty maps. */
function eventData(row: Row): object {
  const { customer_id, name, email, id_number } = row;
  return {
    ...messageFields(row),
    metadata: Object.keys(row.metadata).length === 0 ? undefined : row.metadata,
    breakdown: breakdownOf(row).map(({ kind, unit, ...line }) => ({
      ...line,
      kind: `QUOTE_LINE_KIND_${kind.toUpperCase()}`,
      unit: `QUOTE_LINE_UNIT_${unit.toUpperCase()}`,
    })),
    status: `SHIPMENT_STATUS_${row.status.toUpperCase()}`,
    paymentStatus: `PAYMENT_STATUS_${row.payment_status.toUpperCase()}`,
    dropoffVerification: "DROPOFF_VERIFICATION_NONE",
    dropoffHandover: `DROPOFF_HANDOVER_${row.dropoff_handover.toUpperCase()}`,
    ifUndeliverable: `UNDELIVERABLE_ACTION_${row.if_undeliverable.toUpperCase()}`,
    customer: { id: String(customer_id), name, email, idNumber: id_number ?? undefined },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    cancelledAt: row.cancelled_at ?? undefined,
  };
}

/** Returns the fields of the message `Shipment`, without statuses, times and customer. */
export function messageFields(row: Row) {
  return {
    reference: row.reference,
    pickupAddress: row.pickup_address,
    pickupLat: row.pickup_lat,
    pickupLng: row.pickup_lng,
    dropoffAddress: row.dropoff_address,
    dropoffLat: row.dropoff_lat,
    dropoffLng: row.dropoff_lng,
    weightKg: row.weight_kg,
    packageCount: row.package_count,
    distanceKm: row.distance_km,
    distanceFee: toDollars(row.distance_fee_minor),
    weightFee: toDollars(row.weight_fee_minor),
    baseFee: toDollars(row.base_fee_minor),
    subtotal: toDollars(row.subtotal_minor),
    total: toDollars(row.total_minor),
    currency: row.currency,
    metadata: row.metadata,
    etag: String(row.version),
  };
}

/** Returns the breakdown of a shipment's price. */
export function breakdownOf(row: Row) {
  const price = {
    distanceKm: row.distance_km,
    distanceFeeMinor: row.distance_fee_minor,
    weightFeeMinor: row.weight_fee_minor,
    baseFeeMinor: row.base_fee_minor,
    subtotalMinor: row.subtotal_minor,
  };
  const lines = breakDown(pricing.fees, row.weight_kg, price, []) ?? [];
  return lines.map(({ amountMinor, ...line }) => ({ ...line, amount: toDollars(amountMinor) }));
}

/** Converts minor units to US dollars, the bench's only currency. */
export function toDollars(minor: number): number {
  return minor / 100;
}

function refuse(message: string): never {
  throw new Refused(message);
}
