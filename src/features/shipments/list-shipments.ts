import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { FilterQuery } from "@mikro-orm/postgresql";
import {
  ListShipmentsResponseSchema,
  type ListShipmentsRequestValid,
  type ListShipmentsResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { endPage, isInstant, readPage } from "../../domain/page-token.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { narrowState, type StateFilter } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { INDEX_HINT, listIndexFor } from "./index-hint.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { paymentStatusOf, shipmentMessage, statusOf } from "./shipment-message.ts";
import { Shipment } from "./shipment.entity.ts";

/**
 * Lists shipments of the workspace, newest first. A page begins after the sort key of the last row
 * of the page before, not at an offset: every page costs the same, and new rows shift nothing.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with these filters
 */
export async function listShipments(
  request: ListShipmentsRequestValid,
  { caller }: Call,
  { em }: ShipmentDeps,
): Promise<ListShipmentsResponse> {
  const filters = filtersOf(caller.workspaceId, request);
  const page = readPage(request, filters, readPosition);
  const state = narrowState(filters.status, filters.paymentStatus);
  if (state === undefined) return create(ListShipmentsResponseSchema);

  const found = await em.fork().find(Shipment, whereOf(state, filters, page.after), {
    orderBy: { createdAt: "desc", reference: "desc" },
    limit: page.limit,
    populate: ["customer"],
  });
  const { rows, nextPageToken } = endPage(found, page, ({ createdAt, reference }) => [
    createdAt.getTime(),
    reference,
  ]);
  return create(ListShipmentsResponseSchema, { data: rows.map(shipmentMessage), nextPageToken });
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
    createdAfter: instantOf(request.createdAfter, Math.floor),
    createdBefore: instantOf(request.createdBefore, Math.ceil),
  };
}

/** 9999-12-31T23:59:59.999Z, in milliseconds since the epoch; rounding up must not go beyond. */
const LAST_INSTANT = 253_402_300_799_999;

/** A timestamp in milliseconds since the epoch, rounded because bookings have whole ones. */
function instantOf(
  timestamp: Timestamp | undefined,
  round: (milliseconds: number) => number,
): number | undefined {
  if (timestamp === undefined) return undefined;
  const instant = Number(timestamp.seconds) * 1_000 + round(timestamp.nanos / 1_000_000);
  return Math.min(instant, LAST_INSTANT);
}

/** The sort key of the last shipment of the page before. */
interface Position {
  readonly createdAt: Date;
  readonly reference: string;
}

function readPosition([createdAt, reference]: readonly unknown[]): Position | undefined {
  if (!isInstant(createdAt) || !isReference(reference)) return undefined;
  return { createdAt: new Date(createdAt), reference };
}

function whereOf(
  state: StateFilter,
  { workspace, customerId, externalReference, createdAfter, createdBefore }: Filters,
  after: Position | undefined,
): FilterQuery<Shipment> {
  const conditions: FilterQuery<Shipment>[] = [{ workspace, ...state }];
  // An external reference is unique, and its own index finds the one shipment that has it.
  if (externalReference === undefined) {
    conditions.push(INDEX_HINT.condition(listIndexFor(state, customerId)));
  }
  if (customerId !== undefined) conditions.push({ customer: [workspace, customerId] });
  if (externalReference !== undefined) conditions.push({ externalReference });
  if (createdAfter !== undefined) conditions.push({ createdAt: { $gt: new Date(createdAfter) } });
  if (createdBefore !== undefined) conditions.push({ createdAt: { $lt: new Date(createdBefore) } });
  if (after !== undefined) {
    const { createdAt, reference } = after;
    // The first condition bounds the index scan; the second orders shipments of one millisecond.
    conditions.push(
      { createdAt: { $lte: createdAt } },
      { $or: [{ createdAt: { $lt: createdAt } }, { reference: { $lt: reference } }] },
    );
  }
  return { $and: conditions };
}
