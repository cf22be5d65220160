import { afterAll, beforeAll, expect, test } from "vitest";
import { CancelReason } from "../../../gen/shipments/v1/shipment_pb.js";
import { CancelShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, book, bookAnd, type ShipmentJson } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService, type TestService } from "../../support/service.ts";

let service: TestService;
let apiKey: string;
beforeAll(async () => {
  service = await startService();
  ({ apiKey } = await service.addWorkspace());
});
afterAll(() => service.close());

function cancel(shipment: ShipmentJson, body: unknown) {
  return service.request(`/v1/shipments/${shipment["reference"]}/cancel`, { apiKey, body });
}

const CANCELLED = {
  status: "cancelled",
  payment_status: "voided",
  updated_at: ANY_TIME,
  cancelled_at: ANY_TIME,
  etag: "2",
};

test.each([
  "customer_request",
  "booked_in_error",
  "goods_unavailable",
  "address_problem",
  "payment_problem",
  "other",
])("%s and a note are kept and given back", async (reason) => {
  const booked = await book(service, apiKey);
  const { status, body } = await cancel(booked, { reason, note: "  Changed\ntheir mind 🙂 " });
  expect(status).toBe(200);
  const expected = {
    data: { ...booked, ...CANCELLED, cancel_reason: reason, cancel_note: "Changed\ntheir mind 🙂" },
  };
  expect(body).toEqual(expected);
  expect(body.data.cancelled_at).toBe(body.data.updated_at);
  const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
  expect(read.body).toEqual(body);
});

test("the bare call works as before, and null or a blank note is none", async () => {
  for (const body of [undefined, "", {}, { reason: null, note: null }, { note: "  " }]) {
    const booked = await book(service, apiKey);
    const answer = await service.request(`/v1/shipments/${booked["reference"]}/cancel`, {
      apiKey,
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: { ...booked, ...CANCELLED } });
  }
});

test("a reason outside the list, or too long a note, is refused and cancels nothing", async () => {
  const booked = await book(service, apiKey);
  const reasons =
    "customer_request, booked_in_error, goods_unavailable, address_problem, payment_problem, other";
  const { status, body } = await cancel(booked, { reason: "bored", note: "x".repeat(501) });
  expect(status).toBe(422);
  expect(body).toEqual({
    message: `reason must be one of ${reasons}. (and 1 more errors)`,
    errors: { reason: [`reason must be one of ${reasons}.`], note: [expect.any(String)] },
  });
  for (const reason of ["unspecified", "CANCEL_REASON_OTHER", 6, true]) {
    expect((await cancel(booked, { reason })).status).toBe(422);
  }
  const grpc = service.grpcClient(apiKey);
  const refusal = await rpcError(
    grpc.cancelShipment({ shipment: booked["reference"], reason: 99 as CancelReason }),
  );
  expect(refusal).toMatchObject({
    code: "InvalidArgument",
    details: { BadRequest: { fieldViolations: [{ field: "reason" }] } },
  });
  const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
  expect(read.body).toEqual({ data: booked });
});

test("the gRPC door takes a reason alike, and an unspecified one is none", async () => {
  const grpc = service.grpcClient(apiKey);
  for (const [reason, name] of [
    [CancelReason.ADDRESS_PROBLEM, "address_problem"],
    [CancelReason.UNSPECIFIED, null],
  ] as const) {
    const paid = await bookAnd(service, apiKey, ["pay"]);
    const answer = await grpc.cancelShipment({
      shipment: paid["reference"],
      reason,
      note: "No door",
    });
    expect(inDialect(CancelShipmentResponseSchema, answer)).toEqual({
      data: {
        ...paid,
        ...CANCELLED,
        payment_status: "refund_pending",
        etag: "3",
        cancel_reason: name,
        cancel_note: "No door",
      },
    });
  }
});

test("the reason of the cancel that won stays when another is refused", async () => {
  const booked = await book(service, apiKey);
  const first = await cancel(booked, { reason: "other", note: "first" });
  const text = "The shipment cannot be cancelled because it is already cancelled.";
  const { status, body } = await cancel(booked, { reason: "booked_in_error", note: "second" });
  expect({ status, body }).toEqual({
    status: 422,
    body: { message: text, errors: { shipment: [text] } },
  });
  const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
  expect(read.body).toEqual(first.body);
});
