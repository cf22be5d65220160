import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { loadShipments } from "../shipments/newest-shipments.ts";
import { byNearest } from "../shipments/stop-order.ts";
import { bookedWindows } from "../shipments/windows.ts";
import { localDate } from "../ui/local-time.ts";

const HOUR_MS = 3_600_000;

/**
 * Loads all shipments to pick up on a day, such as `2026-12-01`, in each pickup's time zone, by time and then by
 * address. For today, also loads shipments that are overdue or to be picked up as soon as possible.
 *
 * @param courierId loads only the shipments of this courier
 */
export async function loadManifest(
  client: Pick<Client<typeof ShipmentService>, "listShipments">,
  {
    day,
    isToday,
    courierId,
  }: { readonly day: string; readonly isToday: boolean; readonly courierId?: string | undefined },
  signal: AbortSignal,
): Promise<readonly Shipment[]> {
  const { shipments } = await loadShipments(
    client,
    {
      status: ShipmentStatus.AWAITING_PICKUP,
      // The service filters by pickup time only without other filters. A courier has few shipments, so all of them are
      // loaded.
      ...(courierId === undefined ? pickupsAround(day, isToday) : { courierId }),
    },
    signal,
    Infinity,
  );
  const all = shipments.toSorted((a, b) => startMs(a) - startMs(b) || a.pickupAddress.localeCompare(b.pickupAddress));
  return all.filter((it) =>
    it.pickupWindow === undefined ? isToday : dayOf(it) === day || (isToday && dayOf(it) < day),
  );
}

/** Covers a day in all time zones: in UTC+14, it begins 14 hours before UTC. In UTC-12, it ends 12 hours after. */
function pickupsAround(day: string, isToday: boolean) {
  return {
    orderBy: "pickup_window",
    ...(!isToday && { pickupFrom: timestampFromMs(Date.parse(day) - 14 * HOUR_MS) }),
    pickupBefore: timestampFromMs(Date.parse(day) + 36 * HOUR_MS),
  };
}

/**
 * Groups shipments by courier, or by zone if their zones are given. Sorts each group: first shipments with a position
 * in the courier's run, then those with a pickup window, then the others, each followed by the nearest remaining one.
 * Shipments without a courier or zone come last.
 */
export function groupPickups(shipments: readonly Shipment[], zones?: ReadonlyMap<Shipment, string>) {
  const groups = Map.groupBy(shipments, (it) => (zones ? zones.get(it) : it.courier?.name) ?? "");
  return [...groups]
    .toSorted(([a], [b]) => Number(a === "") - Number(b === "") || a.localeCompare(b))
    .map(([name, own]) => [name, inRouteOrder(zones ? own.map(withoutCourier) : own)] as const);
}

/** Removes the position in the courier's run, which has no meaning among the shipments of a zone. */
const withoutCourier = (shipment: Shipment): Shipment => ({ ...shipment, courier: undefined });

function inRouteOrder(shipments: readonly Shipment[]): readonly Shipment[] {
  const placed = shipments.filter((it) => positionOf(it) < Infinity);
  const others = shipments.filter((it) => positionOf(it) === Infinity);
  return [
    ...placed.toSorted((a, b) => positionOf(a) - positionOf(b)),
    ...others.filter(({ pickupWindow }) => pickupWindow !== undefined),
    ...byNearest(others.filter(({ pickupWindow }) => pickupWindow === undefined)),
  ];
}

/** Returns the position in the courier's run, or infinity without one. */
function positionOf({ courier }: Shipment): number {
  return courier?.sequence ?? Infinity;
}

/** Returns the start of the pickup window, or 0 without a window, which sorts first. */
function startMs(shipment: Shipment): number {
  return bookedWindows(shipment).pickup?.start.getTime() ?? 0;
}

/** Returns the day of the pickup window in its time zone. */
export function dayOf(shipment: Shipment): string {
  return localDate(bookedWindows(shipment).pickup!.start, shipment.pickupWindow!.timeZone);
}
