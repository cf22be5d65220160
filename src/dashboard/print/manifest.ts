import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { loadShipments } from "../shipments/newest-shipments.ts";
import { bookedWindows } from "../shipments/windows.ts";
import { localDate } from "../ui/local-time.ts";

const HOUR_MS = 3_600_000;

/** Shipments to pick up on a day, ordered by time and then by address. */
export interface Manifest {
  /** Overdue shipments from earlier days. Empty except on today's manifest. */
  readonly late: readonly Shipment[];
  readonly timed: readonly Shipment[];
  /** Shipments to pick up as soon as possible. Empty except on today's manifest. */
  readonly untimed: readonly Shipment[];
}

/** Loads the complete manifest for a day, such as `2026-12-01`, in each pickup's time zone. */
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
      // Cover all time zones: in UTC+14, a day begins 14 hours before UTC. In UTC-12, it ends 12 hours after.
      ...(!isToday && { pickupFrom: timestampFromMs(Date.parse(day) - 14 * HOUR_MS) }),
      pickupBefore: timestampFromMs(Date.parse(day) + 36 * HOUR_MS),
    },
    signal,
    Infinity,
  );
  const all = shipments.toSorted((a, b) => startMs(a) - startMs(b) || a.pickupAddress.localeCompare(b.pickupAddress));
  const untimed = all.filter(({ pickupWindow }) => pickupWindow === undefined);
  const timed = all.slice(untimed.length);
  return {
    late: isToday ? timed.filter((it) => dayOf(it) < day) : [],
    timed: timed.filter((it) => dayOf(it) === day),
    untimed,
  };
}

/** Returns the start of the pickup window, or 0 without a window, which sorts first. */
function startMs(shipment: Shipment): number {
  return bookedWindows(shipment).pickup?.start.getTime() ?? 0;
}

function dayOf(shipment: Shipment): string {
  return localDate(bookedWindows(shipment).pickup!.start, shipment.pickupWindow!.timeZone);
}
