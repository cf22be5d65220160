import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { loadShipments } from "../shipments/newest-shipments.ts";
import { bookedWindows } from "../shipments/windows.ts";
import { localDate } from "../ui/local-time.ts";

const HOUR_MS = 3_600_000;

/** What waits for the courier on a day, in the order of its times, then of its addresses. */
export interface Manifest {
  /** Of earlier days: on the manifest of today alone. */
  readonly late: readonly Shipment[];
  readonly timed: readonly Shipment[];
  /** What is as soon as possible: on the manifest of today alone. */
  readonly untimed: readonly Shipment[];
}

/** Loads the whole manifest of a day such as `2026-12-01`, by the clocks of the places. */
export async function loadManifest(
  client: Pick<Client<typeof ShipmentService>, "listShipments">,
  { day, isToday }: { readonly day: string; readonly isToday: boolean },
  signal: AbortSignal,
): Promise<Manifest> {
  const { shipments } = await loadShipments(
    client,
    {
      status: ShipmentStatus.AWAITING_PICKUP,
      orderBy: "pickup_window",
      // A day begins 14 hours before that of UTC where it does first, and ends 12 hours after it where it does last.
      ...(!isToday && { pickupFrom: timestampFromMs(Date.parse(day) - 14 * HOUR_MS) }),
      pickupBefore: timestampFromMs(Date.parse(day) + 36 * HOUR_MS),
    },
    signal,
    () => false,
  );
  const all = shipments.toSorted(
    (a, b) => startMs(a) - startMs(b) || a.pickupAddress.localeCompare(b.pickupAddress),
  );
  const untimed = all.filter(({ pickupWindow }) => pickupWindow === undefined);
  const timed = all.slice(untimed.length);
  return {
    late: isToday ? timed.filter((it) => dayOf(it) < day) : [],
    timed: timed.filter((it) => dayOf(it) === day),
    untimed,
  };
}

/** What has no window is before all that has one. */
function startMs(shipment: Shipment): number {
  return bookedWindows(shipment).pickup?.start.getTime() ?? 0;
}

function dayOf(shipment: Shipment): string {
  return localDate(bookedWindows(shipment).pickup!.start, shipment.pickupWindow!.timeZone);
}
