import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ShipmentSchema, ShipmentStatus } from "../../gen/shipments/v1/shipment_pb.js";
import { loadManifest } from "../../src/dashboard/print/manifest.ts";
import type { ShipmentFilters } from "../../src/dashboard/shipments/newest-shipments.ts";

const DAY = "2026-12-01";

function shipmentAt(start: string | undefined, timeZone = "UTC", pickupAddress = "1 Broadway") {
  const at = start && timestampFromDate(new Date(start));
  const window = at && { start: at, end: at, timeZone };
  return create(ShipmentSchema, {
    reference: `${start} ${pickupAddress}`,
    pickupAddress,
    ...(window && { pickupWindow: window }),
  });
}

/** In the order of pickup, one a page, as a service with these would list them. */
async function load(shipments: readonly ReturnType<typeof shipmentAt>[], isToday: boolean) {
  const asked: string[] = [];
  const client = {
    async listShipments({ status, orderBy, pageToken }: ShipmentFilters) {
      expect(status).toBe(ShipmentStatus.AWAITING_PICKUP);
      const listed = orderBy === "pickup_window" ? shipments : shipments.toReversed();
      const at = Number(pageToken);
      asked.push(listed[at]!.reference);
      return { data: [listed[at]!], nextPageToken: at + 1 < listed.length ? String(at + 1) : "" };
    },
  };
  const { timed, untimed } = await loadManifest(
    client as unknown as Parameters<typeof loadManifest>[0],
    { day: DAY, isToday },
    new AbortController().signal,
  );
  return { timed, untimed, asked };
}

test("today has all that is as soon as possible, however many, and is read to its end", async () => {
  const untimed = Array.from({ length: 1_234 }, (_, i) =>
    shipmentAt(undefined, "UTC", `${1_000 + i} Broadway`),
  );
  const late = shipmentAt("2026-11-30T09:00Z");
  const [first, second] = [
    shipmentAt("2026-12-01T09:00Z", "UTC", "2"),
    shipmentAt("2026-12-01T10:00Z"),
  ];
  const beyond = [shipmentAt("2026-12-03T09:00Z"), shipmentAt("2026-12-03T10:00Z")];
  const loaded = await load([...untimed, late, first, second, ...beyond], true);
  expect(loaded.timed).toEqual([first, second]);
  expect(loaded.untimed).toEqual(untimed);
  expect(loaded.asked).not.toContain(beyond[1]!.reference);
});

test("another day has what is picked up then by the clock of the place, by time and address", async () => {
  const untimed = shipmentAt(undefined);
  const before = shipmentAt("2026-11-29T09:00Z");
  const inAuckland = shipmentAt("2026-11-30T12:00Z", "Pacific/Auckland");
  const inLosAngeles = shipmentAt("2026-12-02T07:00Z", "America/Los_Angeles");
  const [second, first] = [
    shipmentAt("2026-12-01T09:00Z", "UTC", "2 Broadway"),
    shipmentAt("2026-12-01T09:00Z", "UTC", "1 Broadway"),
  ];
  const others = [
    shipmentAt("2026-12-01T05:00Z", "America/Los_Angeles"),
    shipmentAt("2026-12-01T12:00Z", "Pacific/Auckland"),
  ];
  const all = [untimed, before, inAuckland, others[0]!, second, first, others[1]!, inLosAngeles];
  const loaded = await load(all, false);
  expect(loaded.timed).toEqual([inAuckland, first, second, inLosAngeles]);
  expect(loaded.untimed).toEqual([]);
  expect(loaded.asked.at(-1)).toBe(before.reference);
  // Not even when the whole list is read.
  expect((await load([untimed, inAuckland], false)).untimed).toEqual([]);
});
