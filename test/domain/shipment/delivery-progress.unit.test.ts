import { expect, test } from "vitest";
import {
  type DeliveryProgress,
  NO_PROGRESS,
  progressFrom,
  stageOf,
  withAttempt,
  withCourier,
  withEtas,
} from "../../../src/domain/shipment/delivery-progress.ts";
import { type EventfulState, shipmentEventTypes } from "../../../src/domain/shipment/event-type.ts";

const MINUTE_MS = 60_000;
const COURIER = { name: "Ada Byron", phone: null, vehicle: null, externalId: null };
const FAILED = { end: "dropoff", atMs: 1, reason: "refused", note: null } as const;
const ASSIGNED = withCourier(NO_PROGRESS, COURIER);

/** Progress of a courier at the door, after a failed delivery. */
const near = {
  ...withEtas(ASSIGNED, { dropoff: 1 }),
  arrivedAt: "dropoff",
  attempts: [FAILED],
} as const;

function eventsFrom(before: DeliveryProgress | null, after: DeliveryProgress | null): string[] {
  const state = { status: "in_transit", paymentStatus: "paid" } as const;
  const of = (progress: DeliveryProgress | null): EventfulState => ({ ...state, progress });
  return shipmentEventTypes(of(before), of(after));
}

test("an ETA writes an event if it is the first or differs by five minutes from the last event's", () => {
  let progress: DeliveryProgress | null = null;
  const events = [0, 4, 3, 5, 6, 9, 4, 10].map((minutes) => {
    const before: DeliveryProgress = progress ?? NO_PROGRESS;
    const after = withEtas(before, { dropoff: 1_000 * MINUTE_MS + minutes * MINUTE_MS });
    const types = eventsFrom(progress, after);
    progress = after;
    return types;
  });
  const changed = ["shipment.eta_changed"];
  expect(events).toEqual([changed, [], [], changed, [], [], [], changed]);
  expect(progress!.etas).toEqual({ pickup: null, dropoff: 1_010 * MINUTE_MS });
});

test("a replacement courier has neither arrived nor an ETA, but the first courier keeps both", () => {
  const unnamed = { ...near, courier: null };
  expect(withCourier(unnamed, COURIER)).toEqual(near);
  const [seven, eight] = ["7", "8"].map((externalId) => ({ ...COURIER, externalId }));
  const known = { ...near, courier: seven! };
  expect(withCourier(known, { ...seven!, name: "Ada B." }).arrivedAt).toBe("dropoff");
  expect(withCourier(known, eight!).arrivedAt).toBeNull();
  const other = { ...COURIER, name: "Grace" };
  const vehicle = { ...COURIER, vehicle: "Van" };
  expect(withCourier(near, vehicle)).toEqual({ ...near, courier: vehicle });
  expect(withCourier(near, other)).toEqual({ ...NO_PROGRESS, courier: other, attempts: [FAILED] });
  expect(withCourier(near, null)).toEqual({ ...NO_PROGRESS, attempts: [FAILED] });
});

test("a failed attempt clears the arrival and the ETA of its end only", () => {
  const near = { ...withEtas(ASSIGNED, { pickup: 1, dropoff: 2 }), arrivedAt: "dropoff" } as const;
  const etas = { pickup: 1, dropoff: null };
  expect(withAttempt(near, FAILED)).toEqual({
    courier: COURIER,
    arrivedAt: null,
    etas,
    announcedEtas: etas,
    attempts: [FAILED],
  });
});

test("each report writes its own event", () => {
  const arrived = { ...ASSIGNED, arrivedAt: "dropoff" } as const;
  const reports: [DeliveryProgress | null, DeliveryProgress, string][] = [
    [null, ASSIGNED, "shipment.courier_assigned"],
    [ASSIGNED, withCourier(ASSIGNED, { ...COURIER, vehicle: "Van" }), "shipment.courier_assigned"],
    [ASSIGNED, withCourier(ASSIGNED, null), "shipment.courier_assigned"],
    [ASSIGNED, { ...ASSIGNED, arrivedAt: "pickup" }, "shipment.at_pickup"],
    [ASSIGNED, arrived, "shipment.at_dropoff"],
    [arrived, withAttempt(arrived, FAILED), "shipment.attempt_failed"],
    [near, { ...withEtas(near, { dropoff: 2 }), arrivedAt: null }, "shipment.courier_assigned"],
  ];
  expect(reports.map(([before, after]) => eventsFrom(before, after))).toEqual(reports.map(([, , type]) => [type]));
});

test("leaving the pickup clears its arrival and ETA, and reaching a final state clears all ETAs", () => {
  const before = { ...withEtas(ASSIGNED, { pickup: 1, dropoff: 2 }), arrivedAt: "pickup" } as const;
  const left = { pickup: null, dropoff: 2 };
  const none = { pickup: null, dropoff: null };
  expect(progressFrom(before, "in_transit")).toEqual({
    ...ASSIGNED,
    etas: left,
    announcedEtas: left,
  });
  expect(progressFrom(before, "cancelled")).toEqual({
    ...ASSIGNED,
    etas: none,
    announcedEtas: none,
  });
});

test("the stage depends on the shipment's status", () => {
  const at = (end: "pickup" | "dropoff" | null, courier = ASSIGNED.courier) =>
    (["pending", "awaiting_pickup", "in_transit", "delivered"] as const).map((status) =>
      stageOf(status, { ...NO_PROGRESS, courier, arrivedAt: end }),
    );
  expect(at(null, null)).toEqual([undefined, undefined, undefined, undefined]);
  expect(at(null)).toEqual([undefined, "assigned", undefined, undefined]);
  expect(at("pickup")).toEqual([undefined, "at_pickup", undefined, undefined]);
  expect(at("dropoff")).toEqual([undefined, "assigned", "at_dropoff", undefined]);
});
