import { describe, expect, test } from "vitest";
import { summarize } from "../../../src/domain/refusal.ts";
import { RecordPaymentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, book, bookAnd, NO_REFERENCE, NO_SHIPMENT, PAYMENT, takeStep } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { setPaymentProvider } from "../../support/platform.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

function pay(reference: string, body: unknown) {
  return service.request(`/v1/shipments/${reference}/payments`, { apiKey, body });
}

const RECORDED = { provider: "manual", ...PAYMENT, paid_at: ANY_TIME, refunded_at: null };

test("a payment over JSON or gRPC moves a pending shipment to awaiting pickup", async () => {
  const first = await book(service, apiKey);
  const { status, body } = await pay(first["reference"], PAYMENT);
  const paid = {
    status: "awaiting_pickup",
    payment_status: "paid",
    updated_at: ANY_TIME,
    etag: "2",
  };
  expect([status, body]).toEqual([200, { data: { ...first, ...paid }, payment: RECORDED }]);
  expect(body.payment.paid_at).toBe(body.data.updated_at);

  const second = await book(service, apiKey);
  const grpc = service.grpcClient(apiKey);
  const answer = await grpc.recordPayment({ shipment: second["reference"], ...PAYMENT });
  expect(inDialect(RecordPaymentResponseSchema, answer)).toEqual({
    data: { ...second, ...paid },
    payment: RECORDED,
  });
});

test("a payment after the cancellation is recorded, and its refund is pending", async () => {
  const cancelled = await bookAnd(service, apiKey, ["cancel"]);
  const { status, body } = await pay(cancelled["reference"], PAYMENT);
  expect(status).toBe(200);
  expect(body).toEqual({
    data: { ...cancelled, payment_status: "refund_pending", updated_at: ANY_TIME, etag: "3" },
    payment: RECORDED,
  });
});

test("a shipment can be paid only once", async () => {
  const { reference } = await bookAnd(service, apiKey, ["pay"]);
  const text = "The shipment cannot be paid because it is awaiting pickup.";
  const { status, body } = await pay(reference, PAYMENT);
  expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "shipment") });
});

describe("a payment must have the shipment's amount and currency", () => {
  const amountText = "amount must be the shipment's total, which is 12.69.";
  const currencyText = "currency must be the shipment's, which is USD.";
  test.each([
    [{ amount: 12.68, currency: "USD" }, { amount: [amountText] }],
    [{ amount: 12.690000001, currency: "USD" }, { amount: [amountText] }],
    [{ amount: 0, currency: "USD" }, { amount: [amountText] }],
    [{ amount: 12.69, currency: "EUR" }, { currency: [currencyText] }],
    [
      { amount: 1269, currency: "JPY" },
      { amount: [amountText], currency: [currencyText] },
    ],
  ])("%o", async (body, errors) => {
    const booked = await book(service, apiKey);
    const answer = await pay(booked["reference"], body);
    expect(answer.status).toBe(422);
    const texts = Object.values(errors).flat();
    const message = summarize(texts[0]!, texts.length);
    expect(answer.body).toEqual({ message, errors });
    const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
    expect(read.body).toEqual({ data: booked });
  });
});

test("rejects a payment without an amount or a currency of the right form", async () => {
  const { reference } = await book(service, apiKey);
  expect(await pay(reference, {})).toMatchObject({
    status: 422,
    body: {
      message: "amount is required. (and 1 more error)",
      errors: { amount: ["amount is required."], currency: ["currency is required."] },
    },
  });
  for (const [body, field] of [
    [{ amount: -1, currency: "USD" }, "amount"],
    [{ amount: "12.69", currency: "USD" }, "amount"],
    [{ amount: 12.69, currency: "usd" }, "currency"],
    [{ amount: 12.69, currency: "US$" }, "currency"],
  ] as const) {
    const answer = await pay(reference, body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  }
});

test("a payment rejected over gRPC names the failed precondition", async () => {
  const { reference } = await book(service, apiKey);
  const grpc = service.grpcClient(apiKey);
  const call = grpc.recordPayment({ shipment: reference, amount: 1, currency: "USD" });
  const text = "amount must be the shipment's total, which is 12.69.";
  expect(await rpcError(call)).toEqual(rpcRefusal("FailedPrecondition", "PAYMENT_MISMATCH", text, "amount"));
});

test("a payment for a missing shipment is not found", async () => {
  expect(await pay(NO_REFERENCE, PAYMENT)).toMatchObject({ status: 404, body: NO_SHIPMENT });
});

test("a payment is recorded even if the provider was disconnected after the booking", async () => {
  const workspace = await service.addWorkspace();
  const { reference } = await book(service, workspace.apiKey);
  await setPaymentProvider(service.app.em, workspace.id, undefined);
  expect(await takeStep(service, workspace.apiKey, reference, "pay")).toMatchObject({
    status: 200,
    body: { data: { status: "awaiting_pickup" }, payment: RECORDED },
  });
});
