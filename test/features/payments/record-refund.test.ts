import { expect, test } from "vitest";
import { RecordRefundResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, bookAnd, NO_REFERENCE, NO_SHIPMENT, PAYMENT, takeStep, type Step } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { startService } from "../../support/service.ts";

let clock: number | undefined;
const service = await startService({ now: () => new Date(clock ?? Date.now()) });
const { apiKey } = await service.addWorkspace();

test.each<Step[]>([
  ["pay", "cancel"],
  ["cancel", "pay"],
])("a refund is recorded after %s and %s", async (...steps) => {
  const cancelled = await bookAnd(service, apiKey, steps);
  expect(cancelled["payment_status"]).toBe("refund_pending");
  const { status, body } = await takeStep(service, apiKey, cancelled["reference"], "refund");
  expect(status).toBe(200);
  expect(body).toEqual({
    data: { ...cancelled, payment_status: "refunded", updated_at: ANY_TIME, etag: "4" },
    payment: {
      provider: "manual",
      ...PAYMENT,
      paid_at: ANY_TIME,
      refunded_at: body.data.updated_at,
    },
  });
});

test("records a refund over gRPC as over JSON", async () => {
  const cancelled = await bookAnd(service, apiKey, ["pay", "cancel"]);
  const grpc = service.grpcClient(apiKey);
  const answer = await grpc.recordRefund({ shipment: cancelled["reference"] });
  expect(inDialect(RecordRefundResponseSchema, answer)).toEqual({
    data: { ...cancelled, payment_status: "refunded", updated_at: ANY_TIME, etag: "4" },
    payment: { provider: "manual", ...PAYMENT, paid_at: ANY_TIME, refunded_at: ANY_TIME },
  });
});

test("rejects a refund if none is pending", async () => {
  for (const [steps, because] of [
    [[], "it is pending"],
    [["pay"], "it is awaiting pickup"],
    [["cancel"], "its payment is voided"],
    [["pay", "cancel", "refund"], "its payment is already refunded"],
  ] as [Step[], string][]) {
    const { reference } = await bookAnd(service, apiKey, steps);
    const text = `The shipment cannot be refunded because ${because}.`;
    const { status, body } = await takeStep(service, apiKey, reference, "refund");
    expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "shipment") });
  }
  expect(await takeStep(service, apiKey, NO_REFERENCE, "refund")).toMatchObject({
    status: 404,
    body: NO_SHIPMENT,
  });
});

test("records a refund even if this replica's clock is behind the one that recorded the payment", async () => {
  const { reference } = await bookAnd(service, apiKey, ["pay", "cancel"]);
  clock = Date.now() - 60_000;
  const { status, body } = await takeStep(service, apiKey, reference, "refund");
  clock = undefined;
  expect(status).toBe(200);
  expect(body.payment.refunded_at).toBe(body.payment.paid_at);
});
