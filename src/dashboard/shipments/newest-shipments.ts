import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentCount } from "../../../gen/shipments/v1/shipment_count_pb.js";
import type { ListShipmentsRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { numberText, sumText } from "../ui/format.ts";

export type ShipmentFilters = MessageInitShape<typeof ListShipmentsRequestSchema>;

export const MAX_LOADED = 1_000;
const PAGE_SIZE = 100;

/** Loads a list page by page until it is complete or has `most` shipments. */
export async function loadShipments(
  client: Pick<Client<typeof ShipmentService>, "listShipments">,
  filters: ShipmentFilters,
  signal?: AbortSignal,
  max = MAX_LOADED,
) {
  const shipments: Shipment[] = [];
  let pageToken = "";
  do {
    const request = { ...filters, pageSize: PAGE_SIZE, pageToken };
    const page = await client.listShipments(request, signal && { signal });
    shipments.push(...page.data);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && shipments.length < max);
  return { shipments, isWhole: pageToken === "" };
}

const MAX_REQUESTS = 6;

interface RecentShipment {
  readonly reference: string;
  readonly customer: string;
}

export function recentShipments(workspace: string): readonly RecentShipment[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedAs(workspace)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecent) : [];
  } catch {
    return [];
  }
}

export function noteRecentShipment(workspace: string, shown: RecentShipment): void {
  const others = recentShipments(workspace).filter(({ reference }) => reference !== shown.reference);
  localStorage.setItem(storedAs(workspace), JSON.stringify([shown, ...others].slice(0, MAX_REQUESTS)));
}

function storedAs(workspace: string): string {
  return `recent-shipments-${workspace}`;
}

function isRecent(value: unknown): value is RecentShipment {
  const { reference, customer } = (value ?? {}) as Record<string, unknown>;
  return typeof reference === "string" && typeof customer === "string";
}

type Amount = Pick<Shipment, "total" | "currency">;

/** Returns the sum of the shipments' totals. Cancelled shipments count as zero. */
export function totalText(shipments: readonly (Amount & Pick<Shipment, "status">)[]): string {
  return sumText(shipments.filter(({ status }) => status !== ShipmentStatus.CANCELLED));
}

/**
 * Returns the sum of a counted list without its cancelled shipments. `undefined` if all are
 * cancelled, or if the count was capped and the sum is therefore unknown.
 */
export function listedText(listed: ShipmentCount, cancelled: ShipmentCount): string | undefined {
  if (listed.more || listed.count === cancelled.count) return undefined;
  const less = cancelled.totals.map(({ total, currency }) => ({ total: -total, currency }));
  return sumText([...listed.totals, ...less]);
}

/** Formats a count: `12`, or `1,000+` if the count was capped. */
export function countedText({ count, more }: ShipmentCount): string {
  return `${numberText(count)}${more ? "+" : ""}`;
}

export function countText(count: number): string {
  return count === 1 ? "1 shipment" : `${numberText(count)} shipments`;
}

/** Splits a list into parts of at most `size`. */
export function inParts<T>(all: readonly T[], size: number) {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
