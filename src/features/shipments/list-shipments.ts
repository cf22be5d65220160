import { create } from "@bufbuild/protobuf";
import {
  type ListShipmentsRequestValid,
  type ListShipmentsResponse,
  ListShipmentsResponseSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { isInstant } from "../../domain/instant.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { statesWith } from "../../domain/shipment/shipment-state.ts";
import type { Call, WorkspaceCaller } from "../../pipeline/call.ts";
import { endPage, jsonBytes, readPage } from "../../pipeline/page.ts";
import { LazyResponse, type RpcResponse } from "../../pipeline/rpc-response.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { listParts, readShipmentFilters, selectListed, timeText } from "./shipment-filters.ts";
import { shipmentJson, shipmentMessage } from "./shipment-message.ts";
import { readShipmentOrder, type ShipmentOrder } from "./shipment-order.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";

/**
 * Lists shipments of the workspace, newest first unless asked otherwise. A page begins after the sort key of
 * the last row of the page before, not at an offset: every page costs the same, and new rows shift nothing.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with these filters in this order, for
 *   filters that nothing can pass, and for an order that no index has with these filters
 */
export async function listShipments(
  request: ListShipmentsRequestValid,
  { caller }: Call,
  deps: Pick<ShipmentDeps, "em" | "versionFees">,
): Promise<RpcResponse<ListShipmentsResponse>> {
  const filters = readShipmentFilters(caller.workspaceId, request);
  const states = statesWith(filters);
  const order = readShipmentOrder(request.orderBy, states, filters);
  const page = readPage(request, { ...filters, order: order.name }, readPositionIn(order));
  if (states.length === 0) return create(ListShipmentsResponseSchema);

  const values: unknown[] = [caller.workspaceId];
  let parts = listParts(states, filters, values, order.index);
  const by = [...(order.key === undefined ? [] : [order.key]), "s.created_at", "s.reference"];
  if (page.after !== undefined) {
    const from = page.after.map((value) => `$${values.push(value)}`);
    const follows = `(${by.join(", ")}) ${order.descends ? "<" : ">"} (${from.join(", ")})`;
    parts = parts.map((part) => `${part} and ${follows}`);
  }
  // Customers are looked up for the rows of the page alone: PostgreSQL selects what costs much after the limit.
  const end = `limit $${values.push(page.limit)}`;
  const inOrder = by.map((key) => `${key} ${order.descends ? "desc" : "asc"}`).join(", ");
  const sql = selectListed(SHIPMENT_COLUMN, parts, end, inOrder);
  const found = await selectShipments(deps, sql, values);
  const { rows, nextPageToken } = endPage(
    found,
    page,
    (row) => positionIn(order, row),
    (row) => shipmentBytes(row, caller),
  );
  return new LazyResponse<ListShipmentsResponse>(
    () => ({
      $typeName: "shipments.v1.ListShipmentsResponse",
      data: rows.map((row) => shipmentMessage(row, caller)),
      nextPageToken,
    }),
    () => ({ data: rows.map((row) => shipmentJson(row, caller)), next_page_token: nextPageToken }),
  );
}

/** The sort key of a shipment as a page token has it: after time and reference that of an order of its own. */
function positionIn(
  { keyOf }: Pick<ShipmentOrder, "keyOf">,
  row: ShipmentRow,
): readonly (string | number)[] {
  const { createdAt, reference } = row;
  return [createdAt.getTime(), reference, ...(keyOf === undefined ? [] : [keyOf(row)])];
}

/** Checks the sort key of a page token, and gives it as a statement compares it. */
function readPositionIn({ isKey }: Pick<ShipmentOrder, "isKey">) {
  return ([createdAtMs, reference, key]: readonly unknown[]): unknown[] | undefined => {
    if (!isInstant(createdAtMs) || !isReference(reference)) return undefined;
    if (isKey !== undefined && !isKey(key)) return undefined;
    return [...(isKey === undefined ? [] : [key]), timeText(createdAtMs), reference];
  };
}

/** More than everything takes that is not the caller's text: names of fields, numbers and times. */
const WITHOUT_TEXT = 3 * 1024;
/** The most bytes of one UTF-16 unit, as JSON writes control characters (`\u0001`). */
const UNIT_BYTES = 6;
/** As many shipments of this size as a page may have fit on it, so they are not measured. */
const SMALL = 24 * 1024;

/** The most bytes that a shipment takes in an answer, in whatever form. */
export function shipmentBytes(row: ShipmentRow, caller: WorkspaceCaller): number {
  const estimate = WITHOUT_TEXT + UNIT_BYTES * textLength(row);
  return estimate <= SMALL ? estimate : WITHOUT_TEXT + jsonBytes(shipmentJson(row, caller));
}

function textLength(row: ShipmentRow): number {
  const { customer, metadata } = row;
  let length =
    row.pickupAddress.length +
    row.dropoffAddress.length +
    customer.name.length +
    customer.email.length +
    (row.createdBy?.length ?? 0) +
    (customer.idNumber?.length ?? 0) +
    (row.cancelNote?.length ?? 0) +
    (row.externalReference?.length ?? 0);
  for (const key in metadata) length += key.length + (metadata[key] as string).length;
  return length;
}
