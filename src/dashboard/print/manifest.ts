import type { Client } from "@connectrpc/connect";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { loadShipments } from "../shipments/newest-shipments.ts";
import { bookedWindows } from "../shipments/windows.ts";
import { localDate } from "../ui/local-time.ts";

const HOUR_MS = 3_600_000;

/** What waits for the courier on a day, in the order of its times, then of its addresses. */
export interface Manifest {
  readonly timed: readonly Shipment[];
  /** What is as soon as possible: on the manifest of today alone. */
  readonly untimed: readonly Shipment[];
}

/**
 * Loads the whole manifest of a day such as `2026-12-01`, by the clocks of the places. The list is by time of pickup
 * and read to the end of the day: for today from its beginning, where those without a time are, for other days
 * backwards.
 */
export async function loadManifest(
  client: Pick<Client<typeof ShipmentService>, "listShipments">,
  { day, isToday }: { readonly day: string; readonly isToday: boolean },
  signal: AbortSignal,
): Promise<Manifest> {
  // A day begins 14 hours before that of UTC where it does first, and ends 12 hours after it where it does last.
  const isBeyond = (shipment: Shipment) =>
    isToday
      ? startOf(shipment) >= Date.parse(day) + 36 * HOUR_MS
      : startOf(shipment) < Date.parse(day) - 14 * HOUR_MS;
  const { shipments } = await loadShipments(
    client,
    {
      status: ShipmentStatus.AWAITING_PICKUP,
      orderBy: isToday ? "pickup_window" : "pickup_window desc",
    },
    signal,
    (loaded) => loaded.slice(-1).some(isBeyond),
  );
  const sorted = shipments.toSorted((a, b) => {
    const [first, second] = [startOf(a), startOf(b)];
    return first === second ? a.pickupAddress.localeCompare(b.pickupAddress) : first - second;
  });
  return {
    timed: sorted.filter((shipment) => {
      const { pickup } = bookedWindows(shipment);
      return pickup && localDate(pickup.start, shipment.pickupWindow!.timeZone) === day;
    }),
    untimed: isToday ? sorted.filter(({ pickupWindow }) => pickupWindow === undefined) : [],
  };
}

/** As the list is sorted: without a time before all others. */
function startOf(shipment: Shipment): number {
  return bookedWindows(shipment).pickup?.start.getTime() ?? -Infinity;
}
