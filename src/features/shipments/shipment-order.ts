import type { ListShipmentsRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { isoTime, toInstantMs } from "../../domain/instant.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import { isDue, type ShipmentState } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentFilters } from "./shipment-filters.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { type ListIndex, PICKUP_KEY } from "./shipment.entity.ts";

interface Key {
  readonly index: ListIndex;
  /** SQL of the key for `shipment s`. */
  readonly key: string;
  readonly keyOf: (row: ShipmentRow) => string | number;
  readonly isKey: (value: unknown) => boolean;
}

/** Order of a list: by an optional key, then by time and reference. */
export type ShipmentOrder = Partial<Key> & {
  /** Name of the order in the request. `undefined` for the default order. */
  readonly name: string | undefined;
  readonly descends: boolean;
  /** Range of the key. `undefined` for all values. */
  readonly range: readonly (readonly [operator: string, bound: string])[] | undefined;
};

type OrderRequest = Partial<Pick<ListShipmentsRequest, "orderBy" | "pickupFrom" | "pickupBefore">>;

/** Format of stored window times. */
const WINDOW_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const KEYS: Readonly<Record<string, Key>> = {
  total: {
    index: "shipment_due_by_total",
    key: "s.total_minor",
    keyOf: ({ totalMinor }) => totalMinor,
    isKey: (value) => Number.isSafeInteger(value),
  },
  pickup_window: {
    index: "shipment_due_by_pickup",
    key: PICKUP_KEY,
    keyOf: ({ windows }) => windows?.pickup?.start ?? "",
    isKey: (value) => value === "" || (typeof value === "string" && WINDOW_TIME.test(value)),
  },
};

const USUAL = "created_at desc";

/**
 * Parses the order of a list.
 *
 * @param request `orderBy` is a field, optionally followed by ` desc`
 * @param states states that the filters allow, empty if no shipment matches
 * @throws Refusal FIELD_INVALID if no index supports the order with these filters, or if the range does not match the
 * order
 */
export function readShipmentOrder(
  request: OrderRequest,
  states: readonly ShipmentState[],
  filters: ShipmentFilters,
): ShipmentOrder {
  const { orderBy, pickupFrom, pickupBefore } = request;
  const [field, direction] = (orderBy || USUAL).split(" ");
  const key = KEYS[field!];
  const name = orderBy === USUAL ? undefined : orderBy || undefined;
  if ((pickupFrom ?? pickupBefore) !== undefined && field !== "pickup_window") {
    const subject = pickupFrom === undefined ? "pickup_before" : "pickup_from";
    throw invalidField(subject, "requires order_by pickup_window or pickup_window desc.");
  }
  const order = { name, descends: direction === "desc", range: rangeOf(request) };
  if (key === undefined) return order;
  if (states.length !== 1 || !isDue(states[0]!) || isNarrowed(filters)) {
    const text =
      `order_by ${field} requires a single queue: set status pending, awaiting_pickup or in_transit, or payment_status ` +
      "refund_pending, and no other filter. With any filters order_by can be created_at or created_at desc.";
    throw refuse("FIELD_INVALID", text, { subject: "order_by" });
  }
  return { ...key, ...order };
}

function rangeOf({ pickupFrom, pickupBefore }: OrderRequest): ShipmentOrder["range"] {
  const fromMs = toInstantMs(pickupFrom, Math.ceil);
  const beforeMs = toInstantMs(pickupBefore, Math.ceil);
  if (beforeMs! <= fromMs!) {
    throw invalidField("pickup_before", "must be later than pickup_from.");
  }
  const range = [
    ...(fromMs === undefined ? [] : [[">=", isoTime(fromMs)] as const]),
    ...(beforeMs === undefined ? [] : [["<", isoTime(beforeMs)] as const]),
  ];
  return range.length === 0 ? undefined : range;
}

function isNarrowed(filters: ShipmentFilters): boolean {
  const { customerId, externalReference, createdAfter, createdBefore, failed, courierId, unassigned } = filters;
  const others = [customerId, externalReference, createdAfter, createdBefore, failed, courierId, unassigned];
  return others.some((value) => value !== undefined);
}
