import { expect, test } from "vitest";
import { summarize } from "../../../src/domain/refusal.ts";
import {
  BatchAdvanceShipmentsResponseSchema,
  BatchCancelShipmentsResponseSchema,
  BatchRecordPaymentsResponseSchema,
} from "../../../gen/shipments/v1/batch_pb.js";
import { ANY_TIME, book, bookAnd, NO_REFERENCE, PAYMENT } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const { apiKey: strangersKey } = await service.addWorkspace();

function batch(act: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  return service.request(`/v1/shipments/${act}/batch`, { apiKey, body, headers });
}

async function read(reference: string) {
  return (await service.request(`/v1/shipments/${reference}`, { apiKey })).body.data;
}

async function eventTypes(reference: string) {
  const { body } = await service.request(`/v1/shipments/${reference}/events`, { apiKey });
  return body.data.map(({ type }: { type: string }) => type);
}

function done(shipment: string, status: string, payment_status: string, etag: string) {
  return { shipment, status, payment_status, etag, error: null };
}

function refused(shipment: string, code: string, ...errors: { field: string; text: string }[]) {
  const [first] = errors;
  const message = first ? summarize(first.text, errors.length) : "There is no such shipment.";
  return {
    shipment,
    status: null,
    payment_status: null,
    etag: null,
    error: { code, message, errors },
  };
}

const cannot = (what: string) => ({
  field: "shipment",
  text: `The shipment cannot be ${what}.`,
});

test("each shipment of a batch is advanced or says why not, at its place, whatever the others are", async () => {
  const [paid, pending, underWay] = [
    await bookAnd(service, apiKey, ["pay"]),
    await book(service, apiKey),
    await bookAnd(service, apiKey, ["pay", "advance"]),
  ].map(({ reference }) => reference as string) as [string, string, string];
  const { reference: foreign } = await bookAnd(service, strangersKey, ["pay"]);
  const shipments = [paid, pending, foreign, NO_REFERENCE, "no reference", underWay];
  const { status, body } = await batch("advance", { shipments });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      results: [
        done(paid, "in_transit", "paid", "3"),
        refused(pending, "SHIPMENT_STATE", cannot("advanced because it is pending")),
        refused(foreign, "SHIPMENT_NOT_FOUND"),
        refused(NO_REFERENCE, "SHIPMENT_NOT_FOUND"),
        refused("no reference", "SHIPMENT_NOT_FOUND"),
        done(underWay, "delivered", "paid", "4"),
      ],
    },
  });
  expect(await read(underWay)).toMatchObject({ status: "delivered", etag: "4" });
  expect(await eventTypes(paid)).toEqual([
    "shipment.created",
    "shipment.paid",
    "shipment.awaiting_pickup",
    "shipment.in_transit",
  ]);
  expect(await eventTypes(pending)).toEqual(["shipment.created"]);

  const grpc = service.grpcClient(apiKey);
  const again = await grpc.batchAdvanceShipments({ shipments: [paid, underWay] });
  expect(inDialect(BatchAdvanceShipmentsResponseSchema, again)).toEqual({
    results: [
      done(paid, "delivered", "paid", "4"),
      refused(underWay, "SHIPMENT_STATE", cannot("advanced because it is delivered")),
    ],
  });
});

test("a batch that says where shipments are takes none of them a step further than was meant", async () => {
  const { reference: paid } = await bookAnd(service, apiKey, ["pay"]);
  const { reference: underWay } = await bookAnd(service, apiKey, ["pay", "advance"]);
  const { body } = await batch("advance", {
    shipments: [paid, underWay],
    from: "awaiting_pickup",
  });
  expect(body.results).toEqual([
    done(paid, "in_transit", "paid", "3"),
    refused(underWay, "SHIPMENT_STATE", {
      field: "shipment",
      text: "The shipment is in transit, not awaiting pickup.",
    }),
  ]);
});

test("shipments are cancelled together for one reason", async () => {
  const pending = await book(service, apiKey);
  const paid = await bookAnd(service, apiKey, ["pay"]);
  const gone = await bookAnd(service, apiKey, ["pay", "advance"]);
  const references = [pending, paid, gone].map(({ reference }) => reference as string);
  const { body } = await batch("cancel", {
    shipments: references,
    reason: "goods_unavailable",
    note: "Fire at the warehouse",
  });
  expect(body).toEqual({
    results: [
      done(references[0]!, "cancelled", "voided", "2"),
      done(references[1]!, "cancelled", "refund_pending", "3"),
      refused(references[2]!, "SHIPMENT_STATE", cannot("cancelled because it is in transit")),
    ],
  });
  expect(await read(references[0]!)).toEqual({
    ...pending,
    status: "cancelled",
    payment_status: "voided",
    cancel_reason: "goods_unavailable",
    cancel_note: "Fire at the warehouse",
    cancelled_at: ANY_TIME,
    updated_at: ANY_TIME,
    etag: "2",
  });
  const grpc = service.grpcClient(apiKey);
  const { reference: shipment } = await book(service, apiKey);
  const answer = await grpc.batchCancelShipments({ shipments: [shipment] });
  expect(inDialect(BatchCancelShipmentsResponseSchema, answer)).toEqual({
    results: [done(shipment, "cancelled", "voided", "2")],
  });
});

test("payments are recorded together, each for the total of its shipment", async () => {
  const references: string[] = [];
  for (let i = 0; i < 3; i++) references.push((await book(service, apiKey))["reference"]);
  const [first, second, third] = references as [string, string, string];
  const { body } = await batch("payments", {
    payments: [
      { shipment: first, ...PAYMENT },
      { shipment: second, amount: 1, currency: "EUR" },
      { shipment: third, ...PAYMENT },
    ],
  });
  expect(body).toEqual({
    results: [
      done(first, "awaiting_pickup", "paid", "2"),
      refused(
        second,
        "PAYMENT_MISMATCH",
        { field: "amount", text: "amount must be the shipment's total, which is 12.69." },
        { field: "currency", text: "currency must be the shipment's, which is USD." },
      ),
      done(third, "awaiting_pickup", "paid", "2"),
    ],
  });
  const grpc = service.grpcClient(apiKey);
  const payments = [{ shipment: second, ...PAYMENT }];
  const answer = await grpc.batchRecordPayments({ payments });
  expect(inDialect(BatchRecordPaymentsResponseSchema, answer)).toEqual({
    results: [done(second, "awaiting_pickup", "paid", "2")],
  });
  // A refund goes by the payment that was kept.
  await service.request(`/v1/shipments/${third}/cancel`, { apiKey, body: {} });
  const refund = await service.request(`/v1/shipments/${third}/refunds`, { apiKey, body: {} });
  expect(refund.body.payment).toMatchObject({ amount: 12.69, currency: "USD" });
});

test("a batch that is repeated under its idempotency key is answered as before, and done once", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const { reference: other } = await book(service, apiKey);
  const headers = { "idempotency-key": "morning-round" };
  const body = { shipments: [shipment, other] };
  const first = await batch("advance", body, headers);
  expect(first.status).toBe(200);
  const second = await batch("advance", body, headers);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(await read(shipment)).toMatchObject({ status: "in_transit", etag: "3" });
  const reused = await batch("advance", { shipments: [other] }, headers);
  expect([reused.status, reused.body.errors]).toEqual([
    422,
    { idempotency_key: [expect.any(String)] },
  ]);
});

test("batches and single calls that race for the same shipments lose none of their changes", async () => {
  const shipments: string[] = [];
  for (let i = 0; i < 8; i++) {
    shipments.push((await bookAnd(service, apiKey, ["pay"]))["reference"]);
  }
  const outcomes = await Promise.all([
    batch("advance", { shipments }),
    batch("cancel", { shipments: shipments.toReversed() }),
    ...shipments.map((one) =>
      service.request(`/v1/shipments/${one}/advance`, { apiKey, body: {} }),
    ),
  ]);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(
    new Set(outcomes.some(({ status }) => status === 422) ? [200, 422] : [200]),
  );
  const results = outcomes.slice(0, 2).flatMap(({ body }) => body.results);
  for (const [i, shipment] of shipments.entries()) {
    const inBatches = results.filter((result) => result.shipment === shipment && !result.error);
    const changes = inBatches.length + Number(outcomes[i + 2]!.status === 200);
    // Booked, then paid, then each change that was answered.
    expect((await read(shipment)).etag).toBe(String(2 + changes));
  }
});

test("a batch is of one to a hundred shipments, each named once and in full", async () => {
  const cases: readonly (readonly [act: string, body: object, errors: object])[] = [
    ["advance", {}, { shipments: expect.anything() }],
    ["advance", { shipments: [] }, { shipments: expect.anything() }],
    ["advance", { shipments: Array(101).fill(NO_REFERENCE) }, { shipments: expect.anything() }],
    ["cancel", { shipments: ["a", " "] }, { "shipments[1]": ["shipments[1] must not be blank."] }],
    ["cancel", { shipments: ["a"], reason: "rain" }, { reason: expect.anything() }],
    [
      "cancel",
      { shipments: ["a", "b", "a"] },
      { "shipments[2]": ["shipments[2] is the same as shipments[0]; name each shipment once."] },
    ],
    [
      "payments",
      {
        payments: [
          { shipment: "a", ...PAYMENT },
          { shipment: "a", ...PAYMENT },
        ],
      },
      {
        "payments[1].shipment": [
          "payments[1].shipment is the same as payments[0].shipment; name each shipment once.",
        ],
      },
    ],
    [
      "payments",
      { payments: [{ shipment: "a", amount: "1" }] },
      {
        "payments[0].amount": ["payments[0].amount must be a number."],
        "payments[0].currency": ["payments[0].currency is required."],
      },
    ],
  ];
  for (const [act, request, errors] of cases) {
    const { status, body } = await batch(act, request);
    expect({ status, errors: body.errors }, JSON.stringify(request)).toEqual({
      status: 422,
      errors,
    });
  }
  const most = Array.from({ length: 100 }, (_, i) => `SHP-0000000000${String(i).padStart(2, "0")}`);
  const { body } = await batch("advance", { shipments: most });
  expect(body.results).toEqual(most.map((one) => refused(one, "SHIPMENT_NOT_FOUND")));
  const grpc = service.grpcClient(apiKey);
  expect(await rpcError(grpc.batchAdvanceShipments({ shipments: [] }))).toMatchObject({
    code: "InvalidArgument",
    details: { BadRequest: { fieldViolations: [{ field: "shipments" }] } },
  });
});
