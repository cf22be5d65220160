import { expect, test } from "vitest";
import { summarize } from "../../../src/domain/refusal.ts";
import { data } from "../../support/answers.ts";
import {
  ANY_TIME,
  book,
  bookAnd,
  IMPOSSIBLE_REFERENCE,
  NO_REFERENCE,
  NO_SHIPMENT,
  PAYMENT,
  takeStep,
} from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();
const { apiKey: strangersKey } = await service.addWorkspace();

const caller = service.as(apiKey);

const read = (shipment: string) => data(caller.getShipment({ shipment }));

async function eventTypes(shipment: string) {
  const events = await data(caller.listShipmentEvents({ shipment }));
  return events.map(({ type }: { type: string }) => type);
}

type BatchMethod = "batchAdvanceShipments" | "batchCancelShipments" | "batchRecordPayments";

function done(shipment: string, status: string, payment_status: string, etag: string) {
  return { shipment, status, payment_status, etag, error: null };
}

function refused(shipment: string, code: string, ...errors: { field: string; text: string }[]) {
  const [first] = errors;
  const missing = shipment.startsWith("SHP-") ? NO_SHIPMENT : IMPOSSIBLE_REFERENCE;
  const message = first ? summarize(first.text, errors.length) : missing.message;
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

test("advances each shipment of a batch or returns its error, in order, regardless of the others", async () => {
  const [paid, pending, underWay] = [
    await bookAnd(service, apiKey, ["pay"]),
    await book(service, apiKey),
    await bookAnd(service, apiKey, ["pay", "advance"]),
  ].map(({ reference }) => reference as string) as [string, string, string];
  const { reference: foreign } = await bookAnd(service, strangersKey, ["pay"]);
  const shipments = [paid, pending, foreign, NO_REFERENCE, "no reference", underWay];
  const { status, body } = await caller.batchAdvanceShipments({ shipments });
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
});

test("a batch with a from status does not advance shipments that are further along", async () => {
  const { reference: paid } = await bookAnd(service, apiKey, ["pay"]);
  const { reference: underWay } = await bookAnd(service, apiKey, ["pay", "advance"]);
  const { body } = await caller.batchAdvanceShipments({
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

test("cancels several shipments with one reason", async () => {
  const pending = await book(service, apiKey);
  const paid = await bookAnd(service, apiKey, ["pay"]);
  const gone = await bookAnd(service, apiKey, ["pay", "advance"]);
  const references = [pending, paid, gone].map(({ reference }) => reference as string);
  const { body } = await caller.batchCancelShipments({
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
});

test("records several payments, each for the total of its shipment", async () => {
  const references: string[] = [];
  for (let i = 0; i < 3; i++) references.push((await book(service, apiKey))["reference"]);
  const [first, second, third] = references as [string, string, string];
  const { body } = await caller.batchRecordPayments({
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
  // Cancels the paid shipment. The refund then uses the recorded payment.
  await data(takeStep(service, apiKey, third, "cancel"));
  const refund = await takeStep(service, apiKey, third, "refund");
  expect(refund.body.payment).toMatchObject(PAYMENT);
});

test("a batch repeated with its idempotency key is applied once and returns the first response", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const { reference: other } = await book(service, apiKey);
  const headers = { "idempotency-key": "morning-round" };
  const body = { shipments: [shipment, other] };
  const first = await caller.batchAdvanceShipments(body, headers);
  expect(first.status).toBe(200);
  const second = await caller.batchAdvanceShipments(body, headers);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(await read(shipment)).toMatchObject({ status: "in_transit", etag: "3" });
  const reused = await caller.batchAdvanceShipments({ shipments: [other] }, headers);
  expect([reused.status, reused.body.errors]).toEqual([422, { idempotency_key: [expect.any(String)] }]);
});

test("concurrent batches and single calls for the same shipments lose no changes", async () => {
  const shipments: string[] = [];
  for (let i = 0; i < 8; i++) {
    shipments.push((await bookAnd(service, apiKey, ["pay"]))["reference"]);
  }
  const outcomes = await Promise.all([
    caller.batchAdvanceShipments({ shipments }),
    caller.batchCancelShipments({ shipments: shipments.toReversed() }),
    ...shipments.map((one) => takeStep(service, apiKey, one, "advance")),
  ]);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(
    new Set(outcomes.some(({ status }) => status === 422) ? [200, 422] : [200]),
  );
  const results = outcomes.slice(0, 2).flatMap(({ body }) => body.results);
  for (const [i, shipment] of shipments.entries()) {
    const inBatches = results.filter((result) => result.shipment === shipment && !result.error);
    const changes = inBatches.length + Number(outcomes[i + 2]!.status === 200);
    // The version counts the booking, the payment and each successful change.
    expect((await read(shipment)).etag).toBe(String(2 + changes));
  }
});

test("a batch has 1 to 100 different shipments, each with all required fields", async () => {
  const twice = "is the same as shipments[0]. List each shipment once.";
  const payment = { shipment: "a", ...PAYMENT };
  const ANY = expect.anything();
  const cases: readonly (readonly [method: BatchMethod, fields: object, errors: object])[] = [
    ["batchAdvanceShipments", {}, { shipments: ANY }],
    ["batchAdvanceShipments", { shipments: [] }, { shipments: ["shipments must have at least one item."] }],
    ["batchAdvanceShipments", { shipments: Array(101).fill(NO_REFERENCE) }, { shipments: ANY }],
    ["batchCancelShipments", { shipments: ["a"], reason: "rain" }, { reason: ANY }],
    ["batchCancelShipments", { shipments: ["a", " "] }, { "shipments[1]": ["shipments[1] must not be blank."] }],
    ["batchCancelShipments", { shipments: ["a", "b", "a"] }, { "shipments[2]": [`shipments[2] ${twice}`] }],
    [
      "batchRecordPayments",
      { payments: [payment, payment] },
      {
        "payments[1].shipment": ["payments[1].shipment is the same as payments[0].shipment. List each shipment once."],
      },
    ],
    [
      "batchRecordPayments",
      { payments: [{ shipment: "a", amount: "1" }] },
      {
        "payments[0].amount": ["payments[0].amount must be a number."],
        "payments[0].currency": ["payments[0].currency is required."],
      },
    ],
  ];
  for (const [method, fields, errors] of cases) {
    const { status, body } = await caller[method](fields);
    expect({ status, errors: body.errors }, JSON.stringify(fields)).toEqual({
      status: 422,
      errors,
    });
  }
  const most = Array.from({ length: 100 }, (_, i) => `SHP-0000000000${String(i).padStart(2, "0")}`);
  const { body } = await caller.batchAdvanceShipments({ shipments: most });
  expect(body.results).toEqual(most.map((one) => refused(one, "SHIPMENT_NOT_FOUND")));
});
