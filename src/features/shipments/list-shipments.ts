import { create } from "@bufbuild/protobuf";
import {
  type ListShipmentsRequestValid,
  type ListShipmentsResponse,
  ListShipmentsResponseSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import { runStatement } from "../../db/statement.ts";
import { isInstant, toCreationRange } from "../../domain/instant.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { narrowState, type StateFilter } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, jsonBytes, type Page, readPage } from "../../pipeline/page.ts";
import { LazyResponse, type RpcResponse } from "../../pipeline/rpc-response.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentJson, paymentStatusOf, shipmentMessage, statusOf } from "./shipment-message.ts";
import { SHIPMENT_COLUMN, shipmentRow, type ShipmentRow } from "./shipment-row.ts";
import { indexPredicate, type ListIndex } from "./shipment.entity.ts";

/**
 * Lists shipments of the workspace, newest first. A page begins after the sort key of the last row
 * of the page before, not at an offset: every page costs the same, and new rows shift nothing.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with these filters, and for
 *   filters that nothing can pass
 */
export async function listShipments(
  request: ListShipmentsRequestValid,
  { caller }: Call,
  { em }: Pick<ShipmentDeps, "em">,
): Promise<RpcResponse<ListShipmentsResponse>> {
  const filters = filtersOf(caller.workspaceId, request);
  const page = readPage(request, filters, readPosition);
  const state = narrowState(filters.status, filters.paymentStatus);
  if (state === undefined) return create(ListShipmentsResponseSchema);

  const { sql, values } = listQuery(state, filters, page);
  const selected = await runStatement<{ shipment: string }>(em, sql, values);
  const found = selected.map(({ shipment }) => shipmentRow(shipment));
  const { rows, nextPageToken } = endPage(found, page, positionOf, shipmentBytes);
  return new LazyResponse<ListShipmentsResponse>(
    () => ({
      $typeName: "shipments.v1.ListShipmentsResponse",
      data: rows.map(shipmentMessage),
      nextPageToken,
    }),
    () => ({ data: rows.map(shipmentJson), next_page_token: nextPageToken }),
  );
}

type Filters = ReturnType<typeof filtersOf>;

function filtersOf(workspace: number, request: ListShipmentsRequestValid) {
  return {
    workspace,
    status: statusOf(request.status),
    paymentStatus: paymentStatusOf(request.paymentStatus),
    // 0 is no customer's id: what is not an id finds nothing.
    customerId:
      request.customerId === undefined ? undefined : (readRecordId(request.customerId) ?? 0),
    externalReference: request.externalReference,
    ...toCreationRange(request),
  };
}

/** The sort key of the last shipment of the page before. */
interface Position {
  readonly createdAtMs: number;
  readonly reference: string;
}

function readPosition([createdAtMs, reference]: readonly unknown[]): Position | undefined {
  if (!isInstant(createdAtMs) || !isReference(reference)) return undefined;
  return { createdAtMs, reference };
}

function positionOf({ createdAt, reference }: ShipmentRow): readonly [number, string] {
  return [createdAt.getTime(), reference];
}

/**
 * The query of a page. Its text depends only on which filters are given. Customers are looked up for the
 * rows of the page alone, since PostgreSQL selects what costs much after the limit.
 */
function listQuery(
  state: StateFilter,
  filters: Filters,
  { after, limit }: Page<Position>,
): { sql: string; values: unknown[] } {
  const { workspace, customerId, externalReference, createdAfter, createdBefore } = filters;
  const values: unknown[] = [];
  const conditions: string[] = [];
  const where = (condition: string, ...given: unknown[]) => {
    conditions.push(condition.replace(/\?/g, () => `$${values.push(given.shift())}`));
  };
  where("s.workspace_id = ?", workspace);
  if ("status" in state) where("s.status = ?", state.status);
  if ("paymentStatus" in state) where("s.payment_status = ?", state.paymentStatus);
  // An external reference is unique, and its own index finds the one shipment that has it.
  if (externalReference === undefined) {
    where(indexPredicate(listIndexFor(state, customerId), "s."));
  } else where("s.external_reference = ?", externalReference);
  if (customerId !== undefined) where("s.customer_id = ?", customerId);
  if (createdAfter !== undefined) where("s.created_at > ?", timeText(createdAfter));
  if (createdBefore !== undefined) where("s.created_at < ?", timeText(createdBefore));
  if (after !== undefined) {
    where("(s.created_at, s.reference) < (?, ?)", timeText(after.createdAtMs), after.reference);
  }
  const sql = `select ${SHIPMENT_COLUMN}
    from shipment s where ${conditions.join(" and ")}
    order by s.created_at desc, s.reference desc limit $${values.push(limit)}`;
  return { sql, values };
}

/** The index for a list that is filtered by a state and a customer, or by neither. */
function listIndexFor(state: StateFilter, customerId: number | undefined): ListIndex {
  const column =
    "status" in state ? "status" : "paymentStatus" in state ? "payment_status" : undefined;
  if (customerId === undefined) {
    return column === undefined ? "shipment_by_age" : `shipment_by_${column}`;
  }
  return column === undefined ? "shipment_by_customer" : `shipment_by_customer_and_${column}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** More than everything takes that is not the caller's text: names of fields, numbers and times. */
const WITHOUT_TEXT = 2 * 1024;
/** The most bytes of one UTF-16 unit, as JSON writes control characters (`\u0001`). */
const UNIT_BYTES = 6;
/** As many shipments of this size as a page may have fit on it, so they are not measured. */
const SMALL = 24 * 1024;

/** The most bytes that a shipment takes in an answer, in whatever form. */
export function shipmentBytes(row: ShipmentRow): number {
  const estimate = WITHOUT_TEXT + UNIT_BYTES * textLength(row);
  return estimate <= SMALL ? estimate : WITHOUT_TEXT + jsonBytes(shipmentJson(row));
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
