import { isDeepStrictEqual } from "node:util";
import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { DeliveryStageSchema } from "../../../gen/shipments/v1/courier_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { invalidField } from "../../domain/refusal.ts";
import type { End } from "../../domain/route-ends.ts";
import {
  type Attempt,
  type Courier,
  type DeliveryProgress,
  type DeliveryStage,
  MAX_ATTEMPTS,
  NO_PROGRESS,
  withAttempt,
  withCourier,
  withEtas,
  withOtherVerification,
} from "../../domain/shipment/delivery-progress.ts";
import { withOtherPin } from "../../domain/shipment/delivery-proof.ts";
import { stateError, type Trigger } from "../../domain/shipment/shipment-state.ts";
import { compileEnumName } from "../../json/records.ts";
import { applyTrigger, stateAfter } from "./change-shipment.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import type { Call } from "../../pipeline/call.ts";

const { method } = ShipmentService;
const stageNameOf = compileEnumName<DeliveryStage>(DeliveryStageSchema);

const END_OF_STAGE = { assigned: null, at_pickup: "pickup", at_dropoff: "dropoff" } as const;

/** Changes that courier systems report for paid shipments. */
export const PROGRESS_CHANGES = {
  reportProgress: changeBy(method.reportProgress, (row, { stage, pickupEta, dropoffEta }, at) => {
    if ((stage ?? pickupEta ?? dropoffEta) === undefined) {
      throw invalidField("stage", "is missing. Report stage, pickup_eta or dropoff_eta.");
    }
    const isOnItsWay = row.status === "in_transit";
    const etas = {
      ...(pickupEta && !isOnItsWay && { pickup: etaMsOf("pickup_eta", pickupEta, at) }),
      ...(dropoffEta && { dropoff: etaMsOf("dropoff_eta", dropoffEta, at) }),
    };
    const stageName = stageNameOf(stage);
    return reportCourier(row, { etas, arrivedAt: stageName && END_OF_STAGE[stageName] }, at);
  }),

  returnShipment: changeBy(method.returnShipment, (row, _, at) => applyTrigger(row, "return", at)),
} satisfies Partial<ShipmentFunctions>;

/** Maximum difference between an ETA and the current time, in milliseconds. */
const MAX_ETA_MS = 366 * 24 * 60 * 60_000;

/** @throws Refusal FIELD_INVALID if the ETA is more than a year in the past or future */
function etaMsOf(subject: string, { seconds }: Timestamp, at: Date): number {
  const etaMs = Number(seconds) * 1_000;
  if (Math.abs(etaMs - at.getTime()) <= MAX_ETA_MS) return etaMs;
  throw invalidField(subject, "must be within a year of now.");
}

/**
 * Assigns or removes the courier.
 *
 * @throws Refusal SHIPMENT_STATE
 */
export function assignCourier(row: ShipmentRow, courier: Courier | null, at: Date): ShipmentRow {
  return report(row, ["assign"], at, (before) => withCourier(before, courier));
}

/**
 * Applies reported ETAs and arrivals.
 *
 * @throws Refusal SHIPMENT_STATE
 */
export function reportCourier(
  row: ShipmentRow,
  reported: {
    readonly etas?: Partial<Record<End, number>>;
    /** Where the courier has arrived. null if the courier is on the way, `undefined` if not reported. */
    readonly arrivedAt?: End | null | undefined;
  },
  at: Date,
): ShipmentRow {
  const { etas = {}, arrivedAt } = reported;
  const triggers = (Object.keys(etas) as End[]).map((end): Trigger => `expect_at_${end}`);
  if (arrivedAt === null) triggers.push("assign");
  else if (arrivedAt !== undefined) triggers.push(`arrive_at_${arrivedAt}`);
  return report(row, triggers, at, (before) => {
    const expected = withEtas(before, etas);
    return arrivedAt === undefined ? expected : { ...expected, arrivedAt };
  });
}

/**
 * Records a failed attempt. Replaces a PIN that was already entered, because the courier knows it.
 *
 * @throws Refusal SHIPMENT_STATE, also after the maximum number of attempts
 */
export function failAttempt(row: ShipmentRow, why: Omit<Attempt, "end" | "atMs">, at: Date): ShipmentRow {
  const isOnItsWay = row.status === "in_transit";
  const end = isOnItsWay ? "dropoff" : "pickup";
  const isPinSpent = row.progress?.proof?.pinVerified === true && row.verification !== null;
  const attempted = report(row, ["attempt"], at, (before) => {
    const failed = before.attempts.filter((attempt) => attempt.end === end);
    if (failed.length < MAX_ATTEMPTS) {
      return withAttempt(before, { end, atMs: at.getTime(), ...why });
    }
    throw stateError(
      `The shipment cannot be recorded as attempted because ${MAX_ATTEMPTS} attempts have failed; ${isOnItsWay ? "return" : "cancel"} it.`,
    );
  });
  return isPinSpent
    ? {
        ...attempted,
        verification: withOtherPin(row.verification),
        progress: withOtherVerification(attempted.progress!),
      }
    : attempted;
}

/**
 * Applies reported progress. Returns the same row if nothing changes.
 *
 * @param triggers triggers that the shipment's state must allow
 */
export function report(
  row: ShipmentRow,
  triggers: readonly Trigger[],
  at: Date,
  change: (before: DeliveryProgress) => DeliveryProgress,
): ShipmentRow {
  for (const trigger of triggers) stateAfter(row, trigger);
  const before = row.progress ?? NO_PROGRESS;
  const progress = change(before);
  return isDeepStrictEqual(progress, before) ? row : { ...row, progress, updatedAt: at };
}

/**
 * Returns the handler of a method that changes a shipment.
 *
 * @param change returns the changed shipment, or the same row if nothing changes
 * @param audited see `Change.audited`
 */
export function changeBy<M extends DescMethodUnary>(
  of: M,
  change: (row: ShipmentRow, request: MessageShape<M["input"]>, at: Date) => ShipmentRow,
  audited?: (row: ShipmentRow) => Readonly<Record<string, unknown>>,
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
      ...(audited && { audited }),
    });
}
