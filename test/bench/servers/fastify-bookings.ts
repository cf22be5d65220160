/**
 * The peer: Fastify with ajv and response schemas, `pg` with hand-written SQL and prepared
 * statements, the key checked against its SHA-256, and the same domain code; it leaves the same
 * rows as the product. Its environment gives DATABASE_URL, API_KEY and WORKSPACE.
 */
import fastify from "fastify";
import { writePageToken } from "../../../src/domain/page-token.ts";
import { quote, roundKm } from "../../../src/domain/pricing/pricing.ts";
import { mintReference } from "../../../src/domain/shipment/shipment-reference.ts";
import { transition } from "../../../src/domain/shipment/shipment-state.ts";
import { announce } from "./announce.ts";
import { BOOKING_SCHEMA, PAGE_SCHEMA, SHIPMENT_SCHEMA } from "./booking-schemas.ts";
import * as sql from "./booking-sql.ts";
import { carriesKnownKey } from "./known-key.ts";
import { pricingOf, query, transaction, type Run } from "./peer-database.ts";
import { shipmentAnswer, shipmentEventData, type ShipmentRow } from "./shipment-row.ts";

const WORKSPACE = Number(process.env.WORKSPACE);
const PAGE_SIZE = 25;

const IN_FORCE = { name: "in-force", text: sql.IN_FORCE };
const LINK_CUSTOMER = { name: "link-customer", text: sql.LINK_CUSTOMER };
const INSERT_SHIPMENT = { name: "insert-shipment", text: sql.INSERT_SHIPMENT };
const INSERT_EVENT = { name: "insert-event", text: sql.INSERT_EVENT };
const GET_SHIPMENT = { name: "get-shipment", text: sql.GET_SHIPMENT };
const LOCK_SHIPMENT = { name: "lock-shipment", text: sql.LOCK_SHIPMENT };
const LIST_SHIPMENTS = { name: "list-shipments", text: sql.LIST_SHIPMENTS };
const CANCEL_SHIPMENT = { name: "cancel-shipment", text: sql.CANCEL_SHIPMENT };

interface Booking {
  readonly customer_name: string;
  readonly customer_email: string;
  readonly pickup_address: string;
  readonly pickup_lat: number;
  readonly pickup_lng: number;
  readonly dropoff_address: string;
  readonly dropoff_lat: number;
  readonly dropoff_lng: number;
  readonly weight_kg: number;
}

interface CustomerRow {
  readonly customer: number;
  readonly name: string;
  readonly email: string;
  readonly id_number: string | null;
}

/** A request that is refused, with what says so. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const app = fastify({ logger: false, bodyLimit: 64 * 1024 });
app.addHook("onRequest", async (request, reply) => {
  if (!carriesKnownKey(request.headers.authorization)) {
    return reply.code(401).send({ message: "The credential is unknown.", errors: {} });
  }
});
app.setErrorHandler(async (error, _request, reply) => {
  const status = error instanceof Refused ? error.status : 500;
  return reply.code(status).send({ message: String(error), errors: {} });
});

app.post<{ Body: Booking }>(
  "/v1/shipments",
  { schema: { body: BOOKING_SCHEMA, response: { 201: SHIPMENT_SCHEMA } } },
  async ({ body }, reply) => {
    const row = await transaction((run) => book(run, body));
    return reply.code(201).send({ data: shipmentAnswer(row) });
  },
);
app.get<{ Params: { shipment: string } }>(
  "/v1/shipments/:shipment",
  { schema: { response: { 200: SHIPMENT_SCHEMA } } },
  async ({ params }) => {
    const [row] = await query<ShipmentRow>(GET_SHIPMENT, [WORKSPACE, params.shipment]);
    return { data: shipmentAnswer(row ?? refuseMissing()) };
  },
);
app.get("/v1/shipments", { schema: { response: { 200: PAGE_SCHEMA } } }, async () => {
  const rows = await query<ShipmentRow>(LIST_SHIPMENTS, [WORKSPACE, PAGE_SIZE + 1]);
  const page = rows.slice(0, PAGE_SIZE);
  const last = rows.length > PAGE_SIZE ? page.at(-1) : undefined;
  const next_page_token =
    last === undefined
      ? ""
      : writePageToken([last.created_at.getTime(), last.reference], { workspace: WORKSPACE });
  return { data: page.map(shipmentAnswer), next_page_token };
});
app.post<{ Params: { shipment: string } }>(
  "/v1/shipments/:shipment/cancel",
  { schema: { response: { 200: SHIPMENT_SCHEMA } } },
  async ({ params }) => {
    const row = await transaction((run) => cancel(run, params.shipment));
    return { data: shipmentAnswer(row) };
  },
);

async function book(run: Run, body: Booking): Promise<ShipmentRow> {
  const [inForce] = await run<{ tariff: number; provider: string | null }>(IN_FORCE, [WORKSPACE]);
  const { tariff, provider } = inForce!;
  const priced = quote(await pricingOf(tariff), {
    pickup: { lat: body.pickup_lat, lng: body.pickup_lng },
    dropoff: { lat: body.dropoff_lat, lng: body.dropoff_lng },
    weightKg: body.weight_kg,
  });
  if (!priced.covered) throw new Refused(422, priced.problems[0].message);
  if (provider === null) throw new Refused(422, "There is no payment provider.");
  const now = new Date();
  const { customer, ...names } = await linkCustomer(run, body, now);
  const row: ShipmentRow = {
    reference: mintReference(),
    status: "pending",
    payment_status: "awaiting_payment",
    created_by: null,
    pickup_address: body.pickup_address.trim(),
    pickup_lat: body.pickup_lat,
    pickup_lng: body.pickup_lng,
    dropoff_address: body.dropoff_address.trim(),
    dropoff_lat: body.dropoff_lat,
    dropoff_lng: body.dropoff_lng,
    weight_kg: body.weight_kg,
    distance_km: roundKm(priced.distanceKm),
    distance_fee_minor: priced.distanceFeeMinor,
    weight_fee_minor: priced.weightFeeMinor,
    base_fee_minor: priced.baseFeeMinor,
    subtotal_minor: priced.subtotalMinor,
    total_minor: priced.totalMinor,
    currency: priced.currency,
    customer_id: customer,
    ...names,
    created_at: now,
    updated_at: now,
    cancelled_at: null,
    cancel_reason: null,
    cancel_note: null,
    external_reference: null,
    metadata: {},
    event_count: 1,
    version: 1,
  };
  await run(INSERT_SHIPMENT, shipmentValues(row, tariff));
  await insertEvent(run, row, "shipment.created");
  return row;
}

async function linkCustomer(run: Run, body: Booking, now: Date): Promise<CustomerRow> {
  const [name, email] = [body.customer_name.trim(), body.customer_email.trim()];
  const values = [WORKSPACE, name, email.toLowerCase(), email, now];
  const [linked] = await run<CustomerRow>(LINK_CUSTOMER, values);
  // Another transaction has just made this customer; the next statement sees it.
  return linked ?? (await run<CustomerRow>(LINK_CUSTOMER, values))[0]!;
}

function shipmentValues(row: ShipmentRow, tariff: number): unknown[] {
  return [
    WORKSPACE,
    row.reference,
    row.customer_id,
    row.pickup_address,
    row.pickup_lat,
    row.pickup_lng,
    row.dropoff_address,
    row.dropoff_lat,
    row.dropoff_lng,
    row.weight_kg,
    row.distance_km,
    row.distance_fee_minor,
    row.weight_fee_minor,
    row.base_fee_minor,
    row.subtotal_minor,
    row.total_minor,
    row.currency,
    tariff,
    row.created_at,
  ];
}

async function cancel(run: Run, reference: string): Promise<ShipmentRow> {
  const [found] = await run<ShipmentRow>(LOCK_SHIPMENT, [WORKSPACE, reference]);
  const row = found ?? refuseMissing();
  const { next, refusal } = transition("cancel", {
    status: row.status,
    paymentStatus: row.payment_status,
  });
  if (next === undefined) throw new Refused(422, refusal);
  const now = new Date();
  await run(CANCEL_SHIPMENT, [WORKSPACE, reference, next.status, next.paymentStatus, now]);
  const cancelled: ShipmentRow = {
    ...row,
    status: next.status,
    payment_status: next.paymentStatus,
    updated_at: now,
    cancelled_at: now,
    event_count: row.event_count + 1,
    version: row.version + 1,
  };
  await insertEvent(run, cancelled, "shipment.cancelled");
  return cancelled;
}

async function insertEvent(run: Run, row: ShipmentRow, type: string): Promise<void> {
  const data = JSON.stringify(shipmentEventData(row));
  const { reference, event_count, updated_at } = row;
  await run(INSERT_EVENT, [WORKSPACE, reference, event_count, type, data, updated_at]);
}

function refuseMissing(): never {
  throw new Refused(404, "There is no such shipment.");
}

await app.ready();
announce(app.server);
