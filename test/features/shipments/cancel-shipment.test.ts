import { describe, expect, test } from "vitest";
import { CancelReason } from "../../../gen/shipments/v1/shipment_pb.js";
import { CancelShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { Shipment } from "../../../src/features/shipments/shipment.entity.ts";
import type { ShipmentState } from "../../../src/domain/shipment/shipment-state.ts";
import { ANY_TIME, book, bookAnd, BOOKING, type ShipmentJson } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { callsInFlight } from "../../support/metrics.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";

const service = await startService();

/** A workspace's booked shipment, as it was answered. */
async function bookInNewWorkspace() {
  const { id, apiKey } = await service.addWorkspace();
  const { body } = await service.request("/v1/shipments", { apiKey, body: BOOKING });
  return { id, apiKey, shipment: body.data };
}

const cancel = (apiKey: string, reference: string) =>
  service.request(`/v1/shipments/${reference}/cancel`, { apiKey, method: "POST" });

test("a pending shipment is cancelled, and its payment voided", async () => {
  const { apiKey, shipment } = await bookInNewWorkspace();
  const { status, body } = await cancel(apiKey, shipment.reference);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    data: {
      ...shipment,
      status: "cancelled",
      payment_status: "voided",
      updated_at: body.data.cancelled_at,
      cancelled_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      etag: "2",
    },
  });
  expect(Date.parse(body.data.cancelled_at)).toBeGreaterThanOrEqual(
    Date.parse(shipment.created_at),
  );
});

test("a paid shipment that awaits pickup is cancelled, and its payment is to be refunded", async () => {
  const { apiKey, shipment } = await bookInNewWorkspace();
  await moveShipment(shipment.reference, {
    status: "awaiting_pickup",
    paymentStatus: "paid",
  });
  const { status, body } = await cancel(apiKey, shipment.reference);
  expect([status, body.data.status, body.data.payment_status]).toEqual([
    200,
    "cancelled",
    "refund_pending",
  ]);
});

/** Puts a shipment into a state, as payments and couriers would. */
async function moveShipment(reference: string, state: ShipmentState): Promise<void> {
  const cancelledAt = state.status === "cancelled" ? new Date() : null;
  await service.app.em.fork().nativeUpdate(Shipment, { reference }, { ...state, cancelledAt });
}

describe("a shipment in transit, delivered or cancelled cannot be cancelled", () => {
  test.each<[state: ShipmentState, message: string]>([
    [
      { status: "in_transit", paymentStatus: "paid" },
      "The shipment cannot be cancelled because it is in transit.",
    ],
    [
      { status: "delivered", paymentStatus: "paid" },
      "The shipment cannot be cancelled because it is delivered.",
    ],
    [
      { status: "cancelled", paymentStatus: "refunded" },
      "The shipment cannot be cancelled because it is already cancelled.",
    ],
  ])("%j", async (state, message) => {
    const { apiKey, shipment } = await bookInNewWorkspace();
    await moveShipment(shipment.reference, state);

    const { status, body } = await cancel(apiKey, shipment.reference);
    expect(status).toBe(422);
    expect(body).toStrictEqual(errorBody(message, "shipment"));

    const refused = service.grpcClient(apiKey).cancelShipment({ shipment: shipment.reference });
    expect(await rpcError(refused)).toEqual(
      rpcRefusal("FailedPrecondition", "SHIPMENT_STATE", message, "shipment"),
    );
    expect(await stateOf(shipment.reference)).toEqual([
      { status: state.status, payment_status: state.paymentStatus },
    ]);
  });
});

test("of concurrent cancels exactly one wins", async () => {
  const { id, apiKey, shipment } = await bookInNewWorkspace();
  const cancels = await service.app.em.fork().transactional(async (holder) => {
    await holder.execute(
      "select 1 from shipment where workspace_id = ? and reference = ? for update",
      [id, shipment.reference],
    );
    const begun = Array.from({ length: 10 }, () => cancel(apiKey, shipment.reference));
    // One waits for the row, the others for the one: changes of a shipment follow each other.
    await eventually("ten cancels", async () => (await callsInFlight(service)) === 10);
    await eventually("a cancel at the shipment's row", async () => (await waiting()) === 1);
    return begun;
  });

  const message = "The shipment cannot be cancelled because it is already cancelled.";
  const losers = (await Promise.all(cancels)).filter(({ status }) => status !== 200);
  expect(losers.map(({ status, body }) => [status, body])).toEqual(
    Array(9).fill([422, errorBody(message, "shipment")]),
  );
});

test("a cancel of another workspace's shipment is answered as of a missing one, by JSON and by gRPC, and changes nothing", async () => {
  const { shipment } = await bookInNewWorkspace();
  const { apiKey } = await service.addWorkspace();
  const { status, body } = await cancel(apiKey, shipment.reference);
  expect([status, body]).toEqual([404, errorBody("There is no such shipment.")]);

  const client = service.grpcClient(apiKey);
  const foreign = await rpcError(client.cancelShipment({ shipment: shipment.reference }));
  const missing = await rpcError(client.cancelShipment({ shipment: "SHP-000000000000" }));
  expect(foreign).toEqual(missing);
  expect(foreign).toEqual(
    rpcRefusal("NotFound", "SHIPMENT_NOT_FOUND", "There is no such shipment."),
  );
  expect(await stateOf(shipment.reference)).toEqual([
    { status: "pending", payment_status: "awaiting_payment" },
  ]);
});

test("a shipment's reference is case-sensitive", async () => {
  const { apiKey, shipment } = await bookInNewWorkspace();
  const { status } = await cancel(apiKey, shipment.reference.toLowerCase());
  expect(status).toBe(404);
});

function stateOf(reference: string) {
  return service.app.em
    .fork()
    .execute("select status, payment_status from shipment where reference = ?", [reference]);
}

/** How many statements on this database wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await service.app.em.fork().execute<{ waiting: number }[]>(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.waiting ?? 0;
}

describe("a reason for a cancel", async () => {
  const { apiKey } = await service.addWorkspace();

  function cancelFor(shipment: ShipmentJson, body: unknown) {
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
  ])("is kept with its note and returned: %s", async (reason) => {
    const booked = await book(service, apiKey);
    const { status, body } = await cancelFor(booked, { reason, note: "  Changed\ntheir mind 🙂 " });
    expect(status).toBe(200);
    const expected = {
      data: {
        ...booked,
        ...CANCELLED,
        cancel_reason: reason,
        cancel_note: "Changed\ntheir mind 🙂",
      },
    };
    expect(body).toEqual(expected);
    expect(body.data.cancelled_at).toBe(body.data.updated_at);
    const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
    expect(read.body).toEqual(body);
  });

  test("is optional; null and a blank note count as none", async () => {
    for (const body of [undefined, "", {}, { reason: null, note: null }, { note: "  " }]) {
      const booked = await book(service, apiKey);
      const answer = await service.request(`/v1/shipments/${booked["reference"]}/cancel`, {
        apiKey,
        method: "POST",
        ...(body === undefined ? {} : { body }),
      });
      expect([answer.status, answer.body]).toEqual([200, { data: { ...booked, ...CANCELLED } }]);
    }
  });

  test("is refused for an unknown reason or too long a note, and cancels nothing", async () => {
    const booked = await book(service, apiKey);
    const reasons =
      "customer_request, booked_in_error, goods_unavailable, address_problem, payment_problem, other";
    const { status, body } = await cancelFor(booked, { reason: "bored", note: "x".repeat(501) });
    expect(status).toBe(422);
    expect(body).toEqual({
      message: `reason must be one of ${reasons}. (and 1 more error)`,
      errors: { reason: [`reason must be one of ${reasons}.`], note: [expect.any(String)] },
    });
    for (const reason of ["unspecified", "CANCEL_REASON_OTHER", 6, true]) {
      expect((await cancelFor(booked, { reason })).status).toBe(422);
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

  test("works by gRPC as by JSON, where an unspecified reason counts as none", async () => {
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

  test("stays that of the first cancel when a second is refused", async () => {
    const booked = await book(service, apiKey);
    const first = await cancelFor(booked, { reason: "other", note: "first" });
    const text = "The shipment cannot be cancelled because it is already cancelled.";
    const { status, body } = await cancelFor(booked, { reason: "booked_in_error", note: "second" });
    expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "shipment") });
    const read = await service.request(`/v1/shipments/${booked["reference"]}`, { apiKey });
    expect(read.body).toEqual(first.body);
  });
});
