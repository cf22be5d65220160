import { expect, test } from "vitest";
import { isLate, isOverdue, type TrackedShipment } from "../../../src/domain/shipment/tracked-shipment.ts";

const SHIPMENT: TrackedShipment = {
  reference: "SHP-0123456789AB",
  status: "in_transit",
  reachedMs: {},
  windows: { pickup: undefined, dropoff: undefined },
  stage: undefined,
  etas: { pickup: null, dropoff: null },
  courier: undefined,
  failed: undefined,
  items: [],
  recipientLocale: undefined,
  canOpen: false,
  hasPhoto: false,
  area: undefined,
  atMs: 100,
  workspace: { name: "Acme", contact: undefined, logo: undefined, timeZone: "UTC" },
  test: false,
};

const until = (endMs: number) => ({ startMs: 0, endMs, timeZone: "UTC" });

test.each<[string, boolean, Partial<TrackedShipment>]>([
  ["without a window", false, {}],
  ["within its window", false, { windows: { pickup: undefined, dropoff: until(101) } }],
  ["after its window", true, { windows: { pickup: undefined, dropoff: until(99) } }],
  [
    "expected after its window",
    true,
    { windows: { pickup: undefined, dropoff: until(101) }, etas: { pickup: null, dropoff: 102 } },
  ],
  [
    "at the door within its window, with any ETA",
    false,
    {
      windows: { pickup: undefined, dropoff: until(101) },
      etas: { pickup: null, dropoff: 102 },
      stage: "at_dropoff",
    },
  ],
  [
    "expected after its window before it is picked up",
    true,
    {
      status: "awaiting_pickup",
      windows: { pickup: until(99), dropoff: until(101) },
      etas: { pickup: null, dropoff: 102 },
    },
  ],
  [
    "expected within its window, after a missed pickup",
    true,
    { status: "awaiting_pickup", windows: { pickup: until(99), dropoff: until(101) } },
  ],
  [
    "picked up late without a dropoff window",
    true,
    {
      status: "awaiting_pickup",
      windows: { pickup: until(101), dropoff: undefined },
      etas: { pickup: 102, dropoff: null },
    },
  ],
  ["in transit with only a pickup window", false, { windows: { pickup: until(99), dropoff: undefined } }],
  ["in a final state", false, { status: "delivered", windows: { pickup: undefined, dropoff: until(99) } }],
])("a shipment %s is late: %s", (_, late, fields) => {
  expect(isLate({ ...SHIPMENT, ...fields })).toBe(late);
});

test.each<[boolean, Partial<TrackedShipment>]>([
  [false, {}],
  [false, { etas: { pickup: 99, dropoff: 101 } }],
  [true, { etas: { pickup: null, dropoff: 99 } }],
  [false, { etas: { pickup: null, dropoff: 99 }, stage: "at_dropoff" }],
  [false, { etas: { pickup: null, dropoff: 99 }, status: "delivered" }],
])("an ETA that passes before the courier arrives is overdue: %s, %j", (overdue, fields) => {
  expect(isOverdue({ ...SHIPMENT, ...fields })).toBe(overdue);
});
