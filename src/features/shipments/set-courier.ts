import { type SetCourierRequestValid, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Transaction } from "../../db/transaction.ts";
import { assertEtag, refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import { type Courier, isCourierReplaced, NO_PROGRESS } from "../../domain/shipment/delivery-progress.ts";
import type { Call } from "../../pipeline/call.ts";
import { findAssignable } from "../couriers/couriers.ts";
import { forgetPlace } from "./courier-places.ts";
import { assignCourier } from "./report-progress.ts";
import type { ShipmentFunctions } from "./shipment-deps.ts";
import type { ShipmentRow } from "./shipment-row.ts";

const { method } = ShipmentService;

/** Changes of shipments' couriers. */
export const COURIER_CHANGES = {
  setCourier(request, call, { changeShipment }) {
    const { shipment, etag, courierId, name, phone = null, vehicle = null, externalId = null } = request;
    if (courierId !== undefined) assertNoDetails(request);
    const to =
      courierId === undefined ? toCourier({ name, phone, vehicle, externalId }) : toKnown(courierOf(call, courierId));
    return changeShipment({ method: method.setCourier, request, call, ...courierChange(call, { shipment, etag }, to) });
  },

  removeCourier: (request, call, { changeShipment }) =>
    changeShipment({ method: method.removeCourier, request, call, ...courierChange(call, request, toCourier(null)) }),

  assignCourier(request, call, { changeBatch }) {
    assertMayAssign(call, request.courier);
    const load = courierOf(call, request.courier);
    return changeBatch({
      method: method.assignCourier,
      request,
      call,
      changes: request.shipments.map((assigned) => ({
        request: assigned,
        call,
        ...courierChange(call, assigned, toKnown(load, assigned.sequence)),
      })),
      pathOf: (index) => `shipments[${index}].shipment`,
    });
  },

  batchRemoveCouriers: (request, call, { changeBatch }) =>
    changeBatch({
      method: method.batchRemoveCouriers,
      request,
      call,
      changes: request.shipments.map((shipment) => ({
        request: { shipment },
        call,
        ...courierChange(call, { shipment }, toCourier(null)),
      })),
      pathOf: (index) => `shipments[${index}]`,
    }),
} satisfies Partial<ShipmentFunctions>;

/**
 * Checks that a courier with a link changes only the order of their own stops. Shipments of other couriers are not
 * found.
 *
 * @throws Refusal SCOPE_INSUFFICIENT
 */
function assertMayAssign({ caller: { courier, canReorder = false } }: Call, to: string): void {
  if (courier === undefined || (canReorder && courier.id === to)) return;
  throw refuse("SCOPE_INSUFFICIENT", "The workspace does not allow couriers to assign shipments or reorder stops.");
}

/** @throws Refusal FIELD_INVALID if `courier_id` is combined with details */
function assertNoDetails({ name, phone, vehicle, externalId: external_id }: SetCourierRequestValid): void {
  const given = Object.entries({ name: name || undefined, phone, vehicle, external_id });
  refuseAny(
    given.flatMap(([subject, value]): Violation[] => {
      const text = `${subject} cannot be combined with courier_id. Send one or the other.`;
      return value === undefined ? [] : [{ reason: "FIELD_INVALID", subject, text }];
    }),
  );
}

/** The new courier of a shipment, and the data on which it depends. */
interface NewCourier {
  readonly load?: (tx: Transaction) => Promise<Courier | undefined>;
  /** @throws Refusal COURIER_NOT_FOUND */
  readonly courierOf: (found: Courier | undefined, before: Courier | null, at: Date) => Courier | null;
}

function toCourier(courier: Courier | null): NewCourier {
  return { courierOf: () => courier };
}

/** Time within which a repeated assignment to the same position changes nothing, in milliseconds. */
const REPEATED_MS = 60 * 60_000;

/** @param sequence position in the courier's run, if given */
function toKnown(load: (tx: Transaction) => Promise<Courier | undefined>, sequence?: number): NewCourier {
  return {
    load,
    courierOf(found, before, at) {
      if (found === undefined) throw refuse("COURIER_NOT_FOUND");
      if (sequence === undefined) return found;
      const isSame = before?.courierId === found.courierId && before?.sequence === sequence;
      const { sequencedAtMs = 0 } = isSame ? before! : {};
      const isRepeated = at.getTime() - sequencedAtMs < REPEATED_MS;
      return { ...found, sequence, sequencedAtMs: isRepeated ? sequencedAtMs : at.getTime() };
    },
  };
}

/** Returns the lookup of a courier of the workspace, which runs once in each transaction. */
function courierOf({ caller }: Call, id: string) {
  const lookups = new WeakMap<Transaction, Promise<Courier | undefined>>();
  return (tx: Transaction) => lookups.getOrInsertComputed(tx, () => findAssignable(tx, caller.workspaceId, id));
}

/**
 * Returns the change of a shipment's courier. The position of a replaced courier is deleted.
 *
 * @throws Refusal ETAG_STALE
 */
function courierChange(
  { caller }: Call,
  { shipment, etag }: { readonly shipment: string; readonly etag?: string | undefined },
  { load, courierOf: newCourier }: NewCourier,
) {
  const key = { workspace: caller.workspaceId, reference: shipment };
  return {
    ...(load && { load }),
    change(row: ShipmentRow, found: Courier | undefined, at: Date) {
      assertEtag("shipment", etag, String(row.version));
      const courier = newCourier(found, row.progress?.courier ?? null, at);
      return {
        row: assignCourier(row, courier, at),
        made: isCourierReplaced(row.progress ?? NO_PROGRESS, courier),
      };
    },
    write: (tx: Transaction, isReplaced: boolean) => isReplaced && forgetPlace(tx, key),
  };
}
