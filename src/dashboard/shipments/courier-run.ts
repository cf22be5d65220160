import type { Client } from "@connectrpc/connect";
import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { loadAllPages } from "../api/all-pages.ts";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { isUnordered } from "./next-stop.ts";

/** Loads a courier's open shipments of today, in the order of the run. Those without a sequence come last. */
export async function loadRun(client: Client<typeof CourierService>, courier: string, signal?: AbortSignal) {
  const { data } = await client.getRun({ courier }, { signal });
  const open = data!.shipments.filter(({ status }) => OPEN.includes(status));
  return open.toSorted((one, other) => Number(isUnordered(one)) - Number(isUnordered(other)));
}

const OPEN: readonly ShipmentStatus[] = [ShipmentStatus.AWAITING_PICKUP, ShipmentStatus.IN_TRANSIT];

/** Loads all couriers that are not archived, by name, and with `figures` those with the fewest open shipments first. */
export function useCouriers({ figures = false } = {}) {
  const client = useClient(CourierService);
  return useQuery(
    async (signal) => {
      const couriers = await loadAllPages((page) => client.listCouriers({ ...page, figures }, { signal }));
      return couriers.toSorted(
        (a, b) => (a.figures?.left ?? 0) - (b.figures?.left ?? 0) || a.name.localeCompare(b.name),
      );
    },
    [client],
  );
}
