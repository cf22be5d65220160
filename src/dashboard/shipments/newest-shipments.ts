import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type {
  ListShipmentsRequestSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";

export type ShipmentFilters = MessageInitShape<typeof ListShipmentsRequestSchema>;

export const MOST_LOADED = 1_000;
const PAGE_SIZE = 100;

export async function loadNewest(
  client: Client<typeof ShipmentService>,
  filters: ShipmentFilters,
  signal: AbortSignal,
) {
  const shipments: Shipment[] = [];
  let pageToken = "";
  do {
    const request = { ...filters, pageSize: PAGE_SIZE, pageToken };
    const page = await client.listShipments(request, { signal });
    shipments.push(...page.data);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && shipments.length < MOST_LOADED);
  return { shipments, isWhole: pageToken === "" };
}
