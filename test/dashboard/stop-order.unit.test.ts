import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ShipmentSchema, ShipmentStatus } from "../../gen/shipments/v1/shipment_pb.js";
import { byNearest, byWindow } from "../../src/dashboard/shipments/stop-order.ts";

const at = (minute: number) => timestampFromDate(new Date(Date.UTC(2026, 0, 1, 12, minute)));

/** Returns a shipment that was created and is to be picked up at the given minutes and longitude. */
function stop(reference: string, createdAt: number, start: number | undefined, pickupLng = 0, pickupLat = 60) {
  const pickupWindow = start === undefined ? undefined : { start: at(start), end: at(start + 60), timeZone: "UTC" };
  const status = ShipmentStatus.AWAITING_PICKUP;
  return create(ShipmentSchema, { reference, status, createdAt: at(createdAt), pickupWindow, pickupLng, pickupLat });
}

/** Returns a shipment in transit, whose next stop is the dropoff. */
function inTransit(reference: string, dropoffStart: number, dropoffLng: number) {
  const dropoffWindow = { start: at(dropoffStart), end: at(dropoffStart + 60), timeZone: "UTC" };
  const status = ShipmentStatus.IN_TRANSIT;
  return create(ShipmentSchema, { reference, status, createdAt: at(0), dropoffWindow, dropoffLat: 60, dropoffLng });
}

const names = (shipments: ReturnType<typeof byWindow>) => shipments.map(({ reference }) => reference).join(" ");

test("stops are ordered by the window of the next stop, those without a window first, oldest first", () => {
  const shipments = [
    stop("late", 0, 30),
    stop("new", 5, undefined),
    inTransit("dropoff", 20, 0),
    stop("old", 4, undefined),
  ];
  expect(names(byWindow(shipments))).toBe("old new dropoff late");
});

test("continues with the nearest stop, starting from the first one by window", () => {
  // At 60 degrees of latitude, a degree of longitude is half as long as a degree of latitude.
  const [first, east, north] = [
    stop("first", 0, 1, 179.9),
    stop("east", 0, 3, -179.5),
    stop("north", 0, 2, 179.9, 60.4),
  ];
  const dropoff = inTransit("dropoff", 9, -179.6);
  expect(names(byNearest([north, dropoff, east, first]))).toBe("first dropoff east north");
  expect(byNearest([])).toEqual([]);
});
