import { describe, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book, bookAnd, type ShipmentJson } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { callsInFlight } from "../../support/metrics.ts";
import { startService } from "../../support/service.ts";

// A separate service, because the test counts calls in flight and statements that wait for a lock.
const service = await startService();
const { id, apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

const cancel = ({ reference: shipment }: ShipmentJson, fields: object = {}) =>
  caller.cancelShipment({ shipment, ...fields });

const read = ({ reference: shipment }: ShipmentJson) => data(caller.getShipment({ shipment }));

const CANCELLED = {
  status: "cancelled",
  payment_status: "voided",
  updated_at: ANY_TIME,
  cancelled_at: ANY_TIME,
  etag: "2",
};

const ALREADY_CANCELLED = {
  shipment: "The shipment cannot be cancelled because it is already cancelled.",
};

test("a pending shipment is cancelled and its payment voided", async () => {
  const booked = await book(service, apiKey);
  const { status, body } = await cancel(booked);
  expect({ status, body }).toStrictEqual({
    status: 200,
    body: { data: { ...booked, ...CANCELLED, updated_at: body.data.cancelled_at } },
  });
  expect(body.data.cancelled_at >= booked["created_at"]).toBe(true);
});

test("exactly one of several concurrent cancellations succeeds", async () => {
  const booked = await book(service, apiKey);
  const cancels = await service.app.em.fork().transactional(async (holder) => {
    await holder.execute("select 1 from shipment where workspace_id = ? and reference = ? for update", [
      id,
      booked["reference"],
    ]);
    const begun = Array.from({ length: 10 }, () => cancel(booked));
    // One call waits for the row and the others for that call, because changes of a shipment are serialized.
    await eventually("ten cancels", async () => (await callsInFlight(service)) === 10);
    await eventually("a cancel at the shipment's row", async () => (await waiting()) === 1);
    return begun;
  });
  const losers = (await Promise.all(cancels)).filter(({ status }) => status !== 200);
  expect(losers).toHaveLength(9);
  for (const refused of losers) await expectRefused(refused, "SHIPMENT_STATE", ALREADY_CANCELLED);
});

test("ignores the case of a shipment's reference", async () => {
  const { reference } = await book(service, apiKey);
  const cancelled = await data(cancel({ reference: reference.toLowerCase() }));
  expect(cancelled).toMatchObject({ reference, status: "cancelled" });
});

/** Returns the number of statements on this database that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await service.app.em.fork().execute<{ waiting: number }[]>(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.waiting ?? 0;
}

describe("a cancellation reason", () => {
  test.each([
    "customer_request",
    "booked_in_error",
    "goods_unavailable",
    "address_problem",
    "payment_problem",
    "other",
  ])("is stored with its note and returned: %s", async (reason) => {
    const booked = await book(service, apiKey);
    const cancelled = await data(cancel(booked, { reason, note: "  Changed\ntheir mind 🙂 " }));
    expect(cancelled).toEqual({
      ...booked,
      ...CANCELLED,
      cancel_reason: reason,
      cancel_note: "Changed\ntheir mind 🙂",
    });
    expect(await read(booked)).toEqual(cancelled);
  });

  test("is optional, and null or a blank note counts as none", async () => {
    for (const body of [undefined, "", {}, { reason: null, note: null }, { note: "  " }]) {
      const booked = await book(service, apiKey);
      const path = `/v1/shipments/${booked["reference"]}/cancel`;
      const answer = await service.request(path, { apiKey, method: "POST", body });
      expect([answer.status, answer.body]).toEqual([200, { data: { ...booked, ...CANCELLED } }]);
    }
  });

  test("is rejected if it is unknown or its note is too long, without cancelling the shipment", async () => {
    const booked = await book(service, apiKey);
    const reasons = "customer_request, booked_in_error, goods_unavailable, address_problem, payment_problem, other";
    await expectRefused(cancel(booked, { reason: "bored", note: "x".repeat(501) }), "FIELD_INVALID", {
      reason: `reason must be one of ${reasons}.`,
      note: "note must be at most 500 characters.",
    });
    for (const reason of ["unspecified", "CANCEL_REASON_OTHER", 6, true]) {
      expect((await cancel(booked, { reason })).code).toBe("FIELD_INVALID");
    }
    const byNumber = { shipment: booked["reference"], reason: 99 };
    await expect(service.grpcClient(apiKey).cancelShipment(byNumber)).rejects.toThrow("reason");
    expect(await read(booked)).toEqual(booked);
  });

  test("that is unspecified over gRPC counts as none", async () => {
    const paid = await bookAnd(service, apiKey, ["pay"]);
    const byNumber = { shipment: paid["reference"], reason: 0, note: "No door" };
    await service.grpcClient(apiKey).cancelShipment(byNumber);
    expect(await read(paid)).toEqual({
      ...paid,
      ...CANCELLED,
      payment_status: "refund_pending",
      etag: "3",
      cancel_note: "No door",
    });
  });

  test("does not change when a second cancellation is rejected", async () => {
    const booked = await book(service, apiKey);
    const first = await data(cancel(booked, { reason: "other", note: "first" }));
    const second = cancel(booked, { reason: "booked_in_error", note: "second" });
    await expectRefused(second, "SHIPMENT_STATE", ALREADY_CANCELLED);
    expect(await read(booked)).toEqual(first);
  });
});
