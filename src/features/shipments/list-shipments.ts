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
import type { ShipmentDeps } from "./shipment-deps.ts";
import { paymentStatusOf, shipmentMessage, statusOf } from "./shipment-message.ts";
import { Shipment, type ListIndex } from "./shipment.entity.ts";

/**
 * Lists shipments of the workspace, the newest first. A page begins where the one before ended, by
 * the sort key and not by counting, so that it costs the same wherever it is, and rows that are
 * inserted meanwhile shift nothing.
 *
 * @throws Refusal FIELD_INVALID for a page token of other filters, or that is none
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
    // An id that no customer can have is looked for all the same, and not found.
    customerId:
      request.customerId === undefined ? undefined : (readRecordId(request.customerId) ?? 0),
    externalReference: request.externalReference,
    createdAfter: instantOf(request.createdAfter, Math.floor),
    createdBefore: instantOf(request.createdBefore, Math.ceil),
  };
}

/** 9999-12-31T23:59:59.999Z: rounded up further, it would be none that a database can read. */
const LAST_INSTANT = 253_402_300_799_999;

/** Whole milliseconds since the epoch, which is as fine as bookings are timed. */
function instantOf(
  timestamp: Timestamp | undefined,
  round: (milliseconds: number) => number,
): number | undefined {
  if (timestamp === undefined) return undefined;
  const instant = Number(timestamp.seconds) * 1_000 + round(timestamp.nanos / 1_000_000);
  return Math.min(instant, LAST_INSTANT);
}

/** Where a page begins: just after this shipment, in the order of the list. */
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
  // An external reference has an index that leads to one shipment at most.
  if (externalReference === undefined) {
    conditions.push({ reference: { $ne: indexFor(state, customerId) } });
  }
  if (customerId !== undefined) conditions.push({ customer: [workspace, customerId] });
  if (externalReference !== undefined) conditions.push({ externalReference });
  if (createdAfter !== undefined) conditions.push({ createdAt: { $gt: new Date(createdAfter) } });
  if (createdBefore !== undefined) conditions.push({ createdAt: { $lt: new Date(createdBefore) } });
  if (after !== undefined) {
    const { createdAt, reference } = after;
    // The first half bounds the index; the second only tells apart what was booked in one instant.
    conditions.push(
      { createdAt: { $lte: createdAt } },
      { $or: [{ createdAt: { $lt: createdAt } }, { reference: { $lt: reference } }] },
    );
  }
  return { $and: conditions };
}

/** The index that a list is read from; see `listIndex`. */
function indexFor(state: StateFilter, customerId: number | undefined): ListIndex {
  const side =
    "status" in state ? "status" : "paymentStatus" in state ? "payment_status" : undefined;
  if (customerId === undefined)
    return side === undefined ? "shipment_by_age" : `shipment_by_${side}`;
  return side === undefined ? "shipment_by_customer" : `shipment_by_customer_and_${side}`;
}
