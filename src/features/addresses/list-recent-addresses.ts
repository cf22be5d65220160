import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ListRecentAddressesRequestValid,
  type ListRecentAddressesResponse,
  ListRecentAddressesResponseSchema,
} from "../../../gen/shipments/v1/address_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Point } from "../../domain/coverage/geo.ts";
import type { Call } from "../../pipeline/call.ts";
import { STATES } from "../../domain/shipment/shipment-state.ts";
import { listParts, readShipmentFilters, selectListed } from "../shipments/shipment-filters.ts";

const DEFAULT_LIMIT = 5;

/** How many of the latest shipments of a customer are looked at, of the many that there may be. */
const MAX_SHIPMENTS = 50;

const COLUMNS = `pickup_address as "pickupAddress", pickup_lat as "pickupLat", pickup_lng as "pickupLng",
  dropoff_address as "dropoffAddress", dropoff_lat as "dropoffLat", dropoff_lng as "dropoffLng",
  (extract(epoch from created_at) * 1000)::float8 as "createdAtMs"`;

/** Both ends of a shipment. */
interface Row extends Readonly<
  Record<"pickupAddress" | "dropoffAddress", string> &
    Record<"pickupLat" | "pickupLng" | "dropoffLat" | "dropoffLng", number>
> {
  readonly createdAtMs: number;
}

/** An address of a shipment. */
interface UsedAddress extends Point {
  readonly address: string;
  readonly createdAtMs: number;
}

/** Lists the addresses of a customer's latest shipments, each once, as it was used last. */
export async function listRecentAddresses(
  { customer, limit = DEFAULT_LIMIT }: ListRecentAddressesRequestValid,
  { caller }: Call,
  { em }: DatabaseDeps,
): Promise<ListRecentAddressesResponse> {
  const filters = readShipmentFilters(caller.workspaceId, { customerId: customer, failed: false });
  const values: unknown[] = [caller.workspaceId];
  const parts = listParts(STATES, filters, values);
  const sql = selectListed(COLUMNS, parts, `limit ${MAX_SHIPMENTS}`);
  const rows = await runStatement<Row>(em, sql, values);
  const used = new Map<string, UsedAddress>();
  for (const found of rows.flatMap(endsOf)) {
    const key = found.address.toLowerCase();
    if (key !== "" && !used.has(key)) used.set(key, found);
  }
  const data = [...used.values()].slice(0, limit).map(({ createdAtMs, ...address }) => ({
    ...address,
    lastUsedAt: timestampFromMs(createdAtMs),
  }));
  return create(ListRecentAddressesResponseSchema, { data });
}

function endsOf(row: Row): readonly UsedAddress[] {
  const { createdAtMs } = row;
  return [
    { address: row.pickupAddress, lat: row.pickupLat, lng: row.pickupLng, createdAtMs },
    { address: row.dropoffAddress, lat: row.dropoffLat, lng: row.dropoffLng, createdAtMs },
  ];
}
