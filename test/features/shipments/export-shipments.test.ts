import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { MAX_EXPORTS } from "../../../src/features/shipments/export-shipments.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, BOOKING, type ShipmentJson } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";
import { take } from "../../support/take.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);
const PATH = "/v1/shipments/export";

/** Columns that existing programs read by position. Later ones follow. */
const FIRST = [
  "reference,external_reference,status,payment_status,created_at",
  "customer_id,customer_name,customer_email,customer_id_number",
  "pickup_address,pickup_lat,pickup_lng,pickup_window_start,pickup_window_end",
  "dropoff_address,dropoff_lat,dropoff_lng,dropoff_window_start,dropoff_window_end",
  "weight_kg,distance_km,distance_fee,weight_fee,window_fee,subtotal,base_fee,total,currency",
  "refunded_amount,cancelled_at,cancel_reason,cancel_note,created_by,updated_at,metadata,disputed_amount",
  "tracking_url,stage,delivered_at,returned_at",
  "courier_name,courier_phone,courier_vehicle,courier_external_id,pickup_eta,dropoff_eta,attempts",
  "recipient_name,recipient_phone,recipient_email,recipient_locale",
  "dropoff_verification,proof_received_by,proof_photo,proof_signature,proof_pin_verified,proof_waived",
  "pickup_contact_name,pickup_contact_phone,pickup_instructions,dropoff_instructions",
  "package_count,package_description,items,dropoff_handover,if_undeliverable",
].join();
const { apiKey: empty } = await service.addWorkspace();
const [HEADER = ""] = (await service.as(empty).exportShipments()).text.split("\r\n");
const COLUMNS = HEADER.replace("\uFEFF", "").split(",");

/** Returns a shipment's expected CSV line from its JSON. Formulas are escaped for spreadsheets. */
function lineOf(shipment: ShipmentJson): Record<string, string> {
  const { customer, payment_details, pickup_window, dropoff_window, metadata, ...rest } = shipment;
  const { courier, attempts, proof } = shipment;
  const values: Record<string, unknown> = {
    ...rest,
    customer_id: customer.id,
    customer_name: customer.name,
    customer_email: customer.email,
    customer_id_number: customer.id_number,
    pickup_window_start: pickup_window?.start,
    pickup_window_end: pickup_window?.end,
    dropoff_window_start: dropoff_window?.start,
    dropoff_window_end: dropoff_window?.end,
    refunded_amount: payment_details?.refunded_amount,
    disputed_amount: payment_details?.disputed_amount,
    courier_name: courier?.name,
    courier_phone: courier?.phone,
    courier_vehicle: courier?.vehicle,
    courier_external_id: courier?.external_id,
    attempts: JSON.stringify(attempts),
    items: JSON.stringify(shipment.items),
    proof_received_by: proof?.received_by,
    proof_photo: proof?.photo,
    proof_signature: proof?.signature,
    proof_pin_verified: proof?.pin_verified,
    proof_waived: proof?.waived,
    metadata: JSON.stringify(metadata),
  };
  return Object.fromEntries(
    COLUMNS.map((name) => {
      const value = (values[name] ?? "") as string | number;
      const isFormula = typeof value === "string" && /^(?!\+\d+$)[=+\-@\t\r]/.test(value);
      return [name, isFormula ? `'${value}` : String(value)];
    }),
  );
}

type Filters = Readonly<Record<string, unknown>>;

async function exported(apiKey: string, filters: Filters = {}): Promise<Record<string, string>[]> {
  const { status, text } = await service.as(apiKey).exportShipments(filters);
  expect(status, text).toBe(200);
  return parse(text, { columns: true, relax_column_count: false });
}

async function listed(apiKey: string, filters: Filters = {}): Promise<ShipmentJson[]> {
  const all: ShipmentJson[] = [];
  for (let page_token = ""; ;) {
    const { body } = await service.as(apiKey).listShipments({ ...filters, page_size: 100, page_token });
    all.push(...body.data);
    if ((page_token = body.next_page_token) === "") return all;
  }
}

const workspace = await service.addWorkspace();
const { apiKey } = workspace;
const customer = await insertCustomers(sql, workspace.id, 1);
await insertShipments(sql, {
  workspace: workspace.id,
  count: 250,
  customer: String(customer),
  createdAt: "timestamptz '2026-01-01' + i * interval '1 minute'",
  status: "case when i % 5 = 0 then 'in_transit' else 'pending' end",
  paymentStatus: "case when i % 5 = 0 then 'paid' else 'awaiting_payment' end",
});
await book(service, apiKey, {
  customer_name: `Anna "die Flinke" Ödön, KG`,
  pickup_address: "=HYPERLINK(1)",
  dropoff_address: "+49 Straße, @Hof",
  external_reference: "-1",
  customer_id_number: "@SUM(A1)",
  metadata: { note: "=1+1", "a,b": 'c"d' },
  dropoff_instructions: 'Ring twice,\nthen say "hello"',
  items: [{ name: "Tea, green", quantity: 2 }],
});
await bookAnd(service, apiKey, ["pay", "cancel"], { external_reference: "order 2" });
const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
await service.as(apiKey).setCourier({ shipment, name: "Ada", phone: "+12125550123" });
await service.as(apiKey).recordAttempt({ shipment, reason: "refused" });
const brought = await bookAnd(service, apiKey, ["pay", "advance"]);
await service.as(apiKey).recordProof({ shipment: brought["reference"], received_by: "=Grace" });

test("an export has the same lines as the list", async () => {
  const shipments = await listed(apiKey);
  expect(shipments).toHaveLength(254);
  expect(await exported(apiKey)).toEqual(shipments.map(lineOf));
});

test("an export has HTTP headers for a file, a byte order mark and the line endings of RFC 4180", async () => {
  const query = "?external_reference=-1";
  const answer = await fetch(`${service.httpUrl}${PATH}${query}`, {
    headers: { authorization: `Bearer ${apiKey}`, "x-request-id": "mine" },
  });
  expect(Object.fromEntries(answer.headers)).toEqual({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="shipments.csv"',
    "cache-control": "no-store",
    "x-request-id": "mine",
    ratelimit: expect.any(String),
    "ratelimit-policy": expect.any(String),
    "transfer-encoding": "chunked",
    connection: "keep-alive",
    "keep-alive": expect.any(String),
    date: expect.any(String),
    "x-content-type-options": "nosniff",
  });
  const text = Buffer.from(await answer.arrayBuffer()).toString();
  const [header, line, end, ...more] = text.split("\r\n");
  expect([header, end, more]).toEqual([expect.stringMatching(new RegExp(`^\uFEFF${FIRST}\\b`)), "", []]);
  expect(line).toContain(`,"Anna ""die Flinke"" Ödön, KG",`);
  expect(line).toContain(`,'=HYPERLINK(1),${BOOKING.pickup_lat},${BOOKING.pickup_lng},`);
});

test("separators and line breaks do not split a cell, and no part of it becomes a formula", async () => {
  const { apiKey: own } = await service.addWorkspace();
  const cells = {
    "5th floor\n=1+1;": "5th floor\n'=1+1;",
    "rear\r\n@x": "rear\r\n'@x",
    "rear\r+1": "rear\r'+1",
    "A;=HYPERLINK(1);-2": "A;'=HYPERLINK(1);'-2",
    "A\t＝1": "A\t'＝1",
    'A;"=1+1"': `A;'"=1+1"`,
    "12-14; b = c, +d": "12-14; b = c, +d",
    "'=1+1": "''=1+1",
    '\'"=1+1"': "''\"=1+1\"",
    "'s-Hertogenbosch": "'s-Hertogenbosch",
  };
  for (const pickup_address of Object.keys(cells)) await book(service, own, { pickup_address });
  const { text } = await service.as(own).exportShipments();
  const rows: ShipmentJson[] = parse(text, { columns: true, record_delimiter: "\r\n" });
  const written = rows.map((row) => row["pickup_address"] as string);
  expect(written.toReversed()).toEqual(Object.values(cells));
  // Splits the file as a program would that expects semicolons and quotes around whole cells only.
  expect(text.split(/[;\t\r\n]/).filter((cell) => /^[=+\-@＝]/.test(cell))).toEqual([]);
});

test.each<Filters>([
  { status: "in_transit" },
  { failed: true },
  { payment_status: "refund_pending" },
  { customer_id: customer, created_after: "2026-01-01T02:00:00Z" },
  { created_before: "2026-01-01T00:30:00Z", status: "pending" },
  { external_reference: "order 2" },
  { status: "delivered" },
  // No shipment has both statuses.
  { status: "delivered", payment_status: "voided" },
])("an export with %j has the same shipments as the list", async (filters) => {
  expect(await exported(apiKey, filters)).toEqual((await listed(apiKey, filters)).map(lineOf));
});

test.each(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "an export over %s is the same file in chunks",
  async (protocol) => {
    const client = rpcClient(ShipmentService, PROTOCOLS[protocol], service, apiKey);
    const pieces: Uint8Array[] = [];
    const request = { status: ShipmentStatus.IN_TRANSIT };
    for await (const { csv } of client.exportShipments(request)) pieces.push(csv);
    expect(parse(Buffer.concat(pieces), { columns: true, bom: true })).toEqual(
      (await listed(apiKey, { status: "in_transit" })).map(lineOf),
    );
  },
);

test("the largest shipments are exported in chunks that every client accepts", async () => {
  const own = await service.addWorkspace();
  const who = await insertCustomers(sql, own.id, 1);
  const bulk = { workspace: own.id, customer: String(who), count: 100 };
  const createdAt = (year: number) => `timestamptz '${year}-01-01' + i * interval '1 minute'`;
  await insertShipments(sql, { ...bulk, createdAt: createdAt(2025), salt: "large" });
  const value = "\u0001".repeat(500);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [i, value]));
  await sql.query("update shipment set metadata = $2 where workspace_id = $1", [own.id, metadata]);
  await insertShipments(sql, { ...bulk, createdAt: createdAt(2026), salt: "small" });
  const pieces: Buffer[] = [];
  for await (const { csv } of service.grpcClient(own.apiKey).exportShipments({})) pieces.push(Buffer.from(csv));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024);
  const rows: ShipmentJson[] = parse(Buffer.concat(pieces), { columns: true, bom: true });
  expect(rows.map((row) => JSON.parse(row["metadata"] as string))).toEqual([
    ...Array(100).fill({}),
    ...Array(100).fill(metadata),
  ]);
});

test("rejects an invalid export as JSON and over gRPC", async () => {
  const answer = service.request(`${PATH}?status=nowhere&color=red`, { apiKey });
  await expectRefused(answer, "FIELD_INVALID", {
    color:
      "color is not a query parameter of this call, which takes status, payment_status, customer_id, external_reference, created_after, created_before, failed, courier_id, unassigned.",
    status: "status must be one of pending, awaiting_pickup, in_transit, delivered, cancelled, returned.",
  });
  expect((await service.as(undefined).exportShipments()).code).toBe("CREDENTIAL_REFUSED");
  const client = service.grpcClient(apiKey);
  const status = 77 as ShipmentStatus;
  const error = await rpcError(take(1, client.exportShipments({ status })));
  expect(error).toEqual(rpcRefusal("InvalidArgument", "FIELD_INVALID", expect.stringMatching(/^status /), "status"));
});

/** Creates a workspace whose export exceeds all buffers between service and client. */
async function addLarge() {
  const other = await service.addWorkspace();
  const who = await insertCustomers(sql, other.id, 1);
  await insertShipments(sql, {
    workspace: other.id,
    count: 2_000,
    customer: String(who),
    salt: String(other.id),
  });
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [i, "-".repeat(500)]));
  await sql.query("update shipment set metadata = $2 where workspace_id = $1", [other.id, metadata]);
  return other;
}

test("a workspace can run four exports per process, and a fifth is rejected until one ends", async () => {
  const { apiKey: own } = await addLarge();
  const open = () => get(`${service.httpUrl}${PATH}`, { headers: { authorization: `Bearer ${own}` } });
  const requests = Array.from({ length: MAX_EXPORTS }, open);
  const responses = await Promise.all(requests.map((request) => once(request, "response")));
  expect(responses.map(([{ statusCode }]) => statusCode)).toEqual(Array(MAX_EXPORTS).fill(200));
  const text = "The workspace has 4 exports running. Try again when one of them is complete.";
  await expectRefused(service.request(PATH, { apiKey: own }), "RATE_LIMITED", text);
  expect((await service.request(PATH, { apiKey })).status).toBe(200);
  for (const [index, request] of requests.entries()) {
    responses[index]![0].on("error", () => undefined);
    request.destroy();
  }
  await eventually("an export to be possible again", async () => {
    const request = open();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    request.destroy();
    return response.statusCode === 200;
  });
});

test("an export that fails breaks the connection, so that clients notice the incomplete file", async () => {
  const other = await addLarge();
  const { body } = await service.as(other.apiKey).createApiKey({ name: "Export" });
  const request = get(`${service.httpUrl}${PATH}`, {
    headers: { authorization: `Bearer ${body.api_key}` },
  });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  await data(service.as(other.apiKey).revokeApiKey({ key: body.data.id }));
  const outcome = once(response, "error");
  response.resume();
  expect(await outcome).toEqual([expect.objectContaining({ code: "ECONNRESET" })]);
  expect(response.complete).toBe(false);
});
