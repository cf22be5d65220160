import { isDeepStrictEqual } from "node:util";
import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AttemptReasonSchema, DeliveryStageSchema } from "../../../gen/shipments/v1/courier_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import {
  type AttemptReason,
  type Courier,
  type DeliveryProgress,
  type DeliveryStage,
  type End,
  MAX_ATTEMPTS,
  NO_PROGRESS,
  withAttempt,
  withCourier,
  withEtas,
} from "../../domain/shipment/delivery-progress.ts";
import type { Trigger } from "../../domain/shipment/shipment-state.ts";
import { compileEnumName } from "../../json/records.ts";
import { applyTrigger } from "./change-shipment.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import type { Call } from "../../pipeline/call.ts";

const { method } = ShipmentService;
const reasonOf = compileEnumName<AttemptReason>(AttemptReasonSchema);
const stageNameOf = compileEnumName<DeliveryStage>(DeliveryStageSchema);

const PLACES = { assigned: null, at_pickup: "pickup", at_dropoff: "dropoff" } as const;

/** What couriers' systems report of shipments that are paid. */
export const PROGRESS_CHANGES = {
  setCourier: changes(method.setCourier, (row, request, at) => {
    const { name = null, phone = null, vehicle = null, externalId = null } = request;
    if (!name && (phone ?? vehicle ?? externalId) !== null) {
      const text = "name is missing; give it with the rest, or nothing to assign nobody.";
      throw refuse("FIELD_INVALID", text, { subject: "name" });
    }
    return assignCourier(row, name ? { name, phone, vehicle, externalId } : null, at);
  }),

  reportProgress: changes(method.reportProgress, (row, request, at) => {
    const stage = stageNameOf(request.stage);
    const etas: Partial<Record<End, number>> = {};
    if (request.pickupEta) etas.pickup = timestampMs(request.pickupEta);
    if (request.dropoffEta) etas.dropoff = timestampMs(request.dropoffEta);
    return reportCourier(row, { etas, arrivedAt: stage && PLACES[stage] }, at);
  }),

  recordAttempt: changes(method.recordAttempt, (row, request, at) => {
    const reason = reasonOf(request.reason)!;
    const note = request.note || null;
    if (reason === "other" && note === null) {
      const text = "note is missing; say what went wrong, as the reason is other.";
      throw refuse("FIELD_INVALID", text, { subject: "note" });
    }
    return failAttempt(row, { reason, note }, at);
  }),

  returnShipment: changes(method.returnShipment, (row, _, at) => applyTrigger(row, "return", at)),
} satisfies Partial<ShipmentFunctions>;

/** @throws Refusal SHIPMENT_STATE */
export function assignCourier(row: ShipmentRow, courier: Courier | null, at: Date): ShipmentRow {
  return report(row, ["assign"], at, (before) => withCourier(before, courier));
}

/** @throws Refusal SHIPMENT_STATE */
export function reportCourier(
  row: ShipmentRow,
  given: {
    readonly etas?: Partial<Record<End, number>>;
    /** Null on the way, undefined where that is not said. */
    readonly arrivedAt?: End | null | undefined;
  },
  at: Date,
): ShipmentRow {
  const { etas = {}, arrivedAt } = given;
  const triggers = (Object.keys(etas) as End[]).map((end): Trigger => `expect_at_${end}`);
  if (arrivedAt === null) triggers.push("assign");
  else if (arrivedAt !== undefined) triggers.push(`arrive_at_${arrivedAt}`);
  return report(row, triggers, at, (before) => {
    const expected = withEtas(before, etas);
    return arrivedAt === undefined ? expected : { ...expected, arrivedAt };
  });
}

/** @throws Refusal SHIPMENT_STATE, also after as many attempts as are kept */
export function failAttempt(
  row: ShipmentRow,
  why: { readonly reason: AttemptReason; readonly note: string | null },
  at: Date,
): ShipmentRow {
  const end = row.status === "awaiting_pickup" ? "pickup" : "dropoff";
  return report(row, ["attempt"], at, (before) => {
    if (before.attempts.length < MAX_ATTEMPTS) {
      return withAttempt(before, { end, atMs: at.getTime(), ...why });
    }
    const text = `The shipment cannot be attempted because ${MAX_ATTEMPTS} attempts have failed; return or cancel it.`;
    throw refuse("SHIPMENT_STATE", text, { subject: "shipment" });
  });
}

/** The row as it is where nothing that was reported is new. */
function report(
  row: ShipmentRow,
  triggers: readonly Trigger[],
  at: Date,
  change: (before: DeliveryProgress) => DeliveryProgress,
): ShipmentRow {
  const reported = triggers.reduce((each, trigger) => applyTrigger(each, trigger, at), row);
  const before = row.progress ?? NO_PROGRESS;
  const progress = change(before);
  return isDeepStrictEqual(progress, before) ? row : { ...reported, progress };
}

/** The function of a method that makes of a shipment another, or gives it back where nothing changes. */
function changes<M extends DescMethodUnary>(
  of: M,
  change: (row: ShipmentRow, request: MessageShape<M["input"]>, at: Date) => ShipmentRow,
) {
  return (
    request: MessageShape<M["input"]> & { readonly shipment: string },
    call: Call,
    { changeShipment }: Pick<ShipmentDeps, "changeShipment">,
  ) =>
    changeShipment({
      method: of,
      request,
      call,
      change: (row, _facts, at) => ({ row: change(row, request, at) }),
    });
}
