import type {
  PaymentStatus as PaymentStatusMessage,
  ShipmentStatus as ShipmentStatusMessage,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { readRecordId } from "../../db/columns.ts";
import { isoTime, toCreationRange } from "../../domain/instant.ts";
import { invalidField } from "../../domain/refusal.ts";
import { STATES, type ShipmentState } from "../../domain/shipment/shipment-state.ts";
import { paymentStatusOf, statusOf } from "./shipment-message.ts";
import { COURIER_KEY, FAILED, indexPredicate, type ListIndex, UNASSIGNED } from "./shipment.entity.ts";

type FilterRequest = Parameters<typeof toCreationRange>[0] & {
  readonly status?: ShipmentStatusMessage | undefined;
  readonly paymentStatus?: PaymentStatusMessage | undefined;
  readonly customerId?: bigint | undefined;
  readonly externalReference?: string | undefined;
  readonly failed: boolean;
  readonly courierId?: string | undefined;
  readonly unassigned?: boolean;
};

export type ShipmentFilters = ReturnType<typeof readShipmentFilters>;

/**
 * Parses the filters of a shipment list.
 *
 * @throws Refusal FIELD_INVALID for invalid filters, for `failed` together with a status, and for `unassigned` together
 * with a courier
 */
export function readShipmentFilters(workspace: number, request: FilterRequest) {
  const filters = {
    workspace,
    status: statusOf(request.status),
    paymentStatus: paymentStatusOf(request.paymentStatus),
    // 0 is never a customer id, so invalid ids match nothing.
    customerId: request.customerId === undefined ? undefined : (readRecordId(request.customerId) ?? 0),
    externalReference: request.externalReference,
    ...toCreationRange(request),
    failed: request.failed || undefined,
    courierId: request.courierId || undefined,
    unassigned: request.unassigned || undefined,
  };
  if (filters.failed && (filters.status ?? filters.paymentStatus) !== undefined) {
    throw invalidField("failed", "matches shipments of any status. Omit status and payment_status.");
  }
  if (filters.unassigned && filters.courierId !== undefined) {
    throw invalidField("unassigned", "finds shipments without a courier. Omit courier_id.");
  }
  return filters;
}

/**
 * Returns SQL conditions on `shipment s` in workspace `$1` that split a list into disjoint parts. Each part is read
 * in order from an index. The SQL text depends only on which filters are set.
 *
 * @param states states that the status filters allow, at least one
 * @param values values of the statement, starting with the workspace. The values of the conditions are appended.
 * @param index index to read, by default the one for these filters in time order
 */
export function listParts(
  states: readonly ShipmentState[],
  filters: ShipmentFilters,
  values: unknown[],
  index: ListIndex = listIndexFor(states, filters),
): string[] {
  const { customerId, externalReference, createdAfter, createdBefore, failed, courierId, unassigned } = filters;
  const conditions = ["s.workspace_id = $1"];
  const where = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`);
  // External references are unique and have their own index.
  if (externalReference !== undefined) where("s.external_reference =", externalReference);
  else if (index !== "shipment_by_customer") conditions.push(indexPredicate(index));
  const isByFailure = externalReference === undefined && index.startsWith("shipment_failed");
  if (failed && !isByFailure) conditions.push(FAILED);
  if (courierId !== undefined) where(`${COURIER_KEY} =`, courierId);
  if (unassigned && externalReference !== undefined) conditions.push(UNASSIGNED);
  if (customerId !== undefined) conditions.push(ofCustomer(`$${values.push(customerId)}`));
  if (createdAfter !== undefined) where("s.created_at >", isoTime(createdAfter));
  if (createdBefore !== undefined) where("s.created_at <", isoTime(createdBefore));
  const common = conditions.join(" and ");
  if (index === "shipment_by_age" || index === "shipment_failed_of_customer") return [common];
  const inPayment = (paymentStatus: string) => `s.payment_status = $${values.push(paymentStatus)}`;
  const inState = isByFailure
    ? [...new Set(states.map(({ paymentStatus }) => paymentStatus))].map(inPayment)
    : states.map(({ status, paymentStatus }) => `s.status = $${values.push(status)} and ${inPayment(paymentStatus)}`);
  if (externalReference !== undefined || index === "shipment_unassigned")
    return [`${common} and (${inState.join(" or ")})`];
  return inState.map((state) => `${common} and ${state}`);
}

const NEWEST_FIRST = "s.created_at desc, s.reference desc";

/**
 * Returns SQL for the first rows of a list. Reads only as many rows of each part as needed.
 *
 * @param columns columns of `shipment s`
 * @param parts result of `listParts`
 * @param end end of the statement, such as `limit 25`
 */
export function selectListed(columns: string, parts: readonly string[], end: string, order = NEWEST_FIRST): string {
  const first = (selected: string, part: string) =>
    `select ${selected} from shipment as s where ${part} order by ${order} ${end}`;
  if (parts.length === 1) return first(columns, parts[0]!);
  const all = parts.map((part) => `(${first("s.*", part)})`).join(" union all ");
  return `select ${columns} from (${all}) s order by ${order} ${end}`;
}

/** Returns the condition for a customer's shipments. The id of a merged customer resolves to the surviving customer. */
function ofCustomer(id: string): string {
  return `s.customer_id = coalesce(
    (select customer_id from customer_alias as alias where alias.workspace_id = $1 and alias.id = ${id}), ${id})`;
}

/** Returns the index for a list in time order. */
function listIndexFor(states: readonly ShipmentState[], filters: ShipmentFilters): ListIndex {
  const { customerId, failed, courierId, unassigned } = filters;
  if (courierId !== undefined) return "shipment_by_courier";
  if (unassigned) return "shipment_unassigned";
  if (failed) return customerId === undefined ? "shipment_failed" : "shipment_failed_of_customer";
  if (customerId !== undefined) return "shipment_by_customer";
  return states.length === STATES.length ? "shipment_by_age" : "shipment_by_status";
}
