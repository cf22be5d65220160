import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { PaymentStatus, type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { loadShipments } from "./newest-shipments.ts";

/** Value of the list filter `courier` for shipments without a courier. */
export const UNASSIGNED = "unassigned";

/** Loads a courier's open shipments in the order of the run: by sequence, then the oldest first. */
export async function loadRun(client: Client<typeof ShipmentService>, courierId: string, signal?: AbortSignal) {
  const lists = await Promise.all(
    [ShipmentStatus.IN_TRANSIT, ShipmentStatus.AWAITING_PICKUP].map((status) =>
      loadShipments(client, { courierId, status, paymentStatus: PaymentStatus.PAID }, signal),
    ),
  );
  return lists.flatMap(({ shipments }) => shipments).toSorted(byStop);
}

function byStop(a: Shipment, b: Shipment): number {
  const [first, second] = [a, b].map(({ courier }) => courier?.sequence ?? Number.MAX_SAFE_INTEGER) as [number, number];
  return first - second || timestampMs(a.createdAt!) - timestampMs(b.createdAt!);
}

/** Loads all couriers that are not archived, by name. */
export function useCouriers() {
  const client = useClient(CourierService);
  return useQuery(
    async (signal) => {
      const couriers = [];
      let pageToken = "";
      do {
        const page = await client.listCouriers({ pageSize: 100, pageToken }, { signal });
        couriers.push(...page.data);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return couriers.toSorted((a, b) => a.name.localeCompare(b.name));
    },
    [client],
  );
}
