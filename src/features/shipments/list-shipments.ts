import { ListShipmentsResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { runStatement } from "../../db/statement.ts";
import { isInstant, isoTime } from "../../domain/instant.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { statesWith } from "../../domain/shipment/shipment-state.ts";
import { endPage, jsonBytes, readPage } from "../../pipeline/page.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ShipmentFunctions } from "./shipment-deps.ts";
import { listParts, readShipmentFilters, selectListed } from "./shipment-filters.ts";
import { shipmentJson, shipmentRecord } from "./shipment-message.ts";
import { readShipmentOrder, type ShipmentOrder } from "./shipment-order.ts";
import { SHIPMENT_COLUMN, type ShipmentRow, shipmentRows } from "./shipment-row.ts";

const respond = compileResponse(ListShipmentsResponseSchema);

/**
 * Lists shipments of the workspace, newest first by default. A page starts after the sort key of the last row, not at
 * an offset. Every page therefore costs the same, and new rows do not shift pages.
 */
export const listShipments: ShipmentFunctions["listShipments"] = async (request, { caller }, deps) => {
  const filters = readShipmentFilters(caller.workspaceId, request);
  const states = statesWith(filters);
  const order = readShipmentOrder(request, states, filters);
  const scope = { ...filters, order: order.name, range: order.range };
  const page = readPage(request, scope, readPositionIn(order));
  if (states.length === 0) return respond({ data: [], nextPageToken: "" });

  const values: unknown[] = [caller.workspaceId];
  let parts = listParts(states, filters, values, order.index);
  for (const [operator, bound] of order.range ?? []) {
    const parameter = values.push(bound);
    parts = parts.map((part) => `${part} and ${order.key} ${operator} $${parameter}`);
  }
  const by = [...(order.key === undefined ? [] : [order.key]), "s.created_at", "s.reference"];
  if (page.after !== undefined) {
    const from = page.after.map((value) => `$${values.push(value)}`);
    const follows = `(${by.join(", ")}) ${order.descends ? "<" : ">"} (${from.join(", ")})`;
    parts = parts.map((part) => `${part} and ${follows}`);
  }
  // PostgreSQL evaluates expensive columns after the limit, so customers are looked up only for rows of the page.
  const end = `limit $${values.push(page.limit)}`;
  const inOrder = by.map((key) => `${key} ${order.descends ? "desc" : "asc"}`).join(", ");
  const sql = selectListed(SHIPMENT_COLUMN, parts, end, inOrder);
  const selected = await runStatement<{ shipment: string }>(deps.em, sql, values);
  const columns = selected.map(({ shipment }) => shipment);
  const found = await shipmentRows(columns, deps.versionFees);
  const { rows, nextPageToken } = endPage(
    found.map((row, i) => ({ row, column: columns[i]! })),
    page,
    ({ row }) => positionIn(order, row),
    ({ row, column }) => {
      const most = WITHOUT_COLUMN + UNIT_BYTES * column.length;
      return most <= SMALL ? most : WITHOUT_COLUMN + jsonBytes(shipmentJson(row, caller));
    },
  );
  return respond({ data: rows.map(({ row }) => shipmentRecord(row, caller)), nextPageToken });
};

/**
 * Returns the sort key of a shipment for a page token: creation time, reference, and the key of the requested order, if
 * any.
 */
function positionIn({ keyOf }: Pick<ShipmentOrder, "keyOf">, row: ShipmentRow): readonly (string | number)[] {
  const { createdAt, reference } = row;
  return [createdAt.getTime(), reference, ...(keyOf === undefined ? [] : [keyOf(row)])];
}

/** Returns a function that validates the sort key of a page token and converts it for the statement. */
function readPositionIn({ isKey }: Pick<ShipmentOrder, "isKey">) {
  return ([createdAtMs, reference, key]: readonly unknown[]): unknown[] | undefined => {
    if (!isInstant(createdAtMs) || !isReference(reference)) return undefined;
    if (isKey !== undefined && !isKey(key)) return undefined;
    return [...(isKey === undefined ? [] : [key]), isoTime(createdAtMs), reference];
  };
}

/** Maximum size of a shipment outside its column, in bytes: field names and breakdown. */
const WITHOUT_COLUMN = 3 * 1024;
/** Maximum number of bytes per UTF-16 unit. Control characters are already escaped in the JSON column. */
const UNIT_BYTES = 3;
/** Size of a shipment up to which a full page always fits, in bytes. Smaller shipments are not measured. */
const SMALL = 24 * 1024;
