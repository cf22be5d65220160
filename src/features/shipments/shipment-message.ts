import { DropoffVerificationSchema } from "../../../gen/shipments/v1/courier_pb.js";
import {
  CancelReasonSchema,
  PaymentStatusSchema,
  ShipmentSchema,
  ShipmentStatusSchema,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { breakDown } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { NO_PROGRESS, stageOf } from "../../domain/shipment/delivery-progress.ts";
import type { DropoffVerification } from "../../domain/shipment/delivery-proof.ts";
import type { PaymentDetails } from "../../domain/shipment/payment-details.ts";
import type {
  CancelReason,
  PaymentStatus,
  ShipmentStatus,
} from "../../domain/shipment/shipment-state.ts";
import {
  compileEnumName,
  compileEnumNumber,
  compileToJson,
  compileToMessage,
} from "../../json/records.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { customerRecord } from "../customers/customer.entity.ts";
import { breakdownRecord } from "../quotes/breakdown-record.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { windowFeesOf } from "./shipment-windows.ts";

/** Of a caller, what all that is theirs has, whether it is of test mode and how it is tracked, and what they may see. */
type Owner = Pick<WorkspaceCaller, "test" | "trackingUrlOf"> &
  Partial<Pick<WorkspaceCaller, "keyScope">>;

export const statusOf = compileEnumName<ShipmentStatus>(ShipmentStatusSchema);
export const paymentStatusOf = compileEnumName<PaymentStatus>(PaymentStatusSchema);
export const statusNumber = compileEnumNumber(ShipmentStatusSchema);
export const paymentStatusNumber = compileEnumNumber(PaymentStatusSchema);
export const verificationOf = compileEnumName<DropoffVerification>(DropoffVerificationSchema);
export const cancelReasonOf = compileEnumName<CancelReason>(CancelReasonSchema);

const toMessage = compileToMessage(ShipmentSchema);
const toJson = compileToJson(ShipmentSchema);

export function shipmentMessage(row: ShipmentRow, caller: Owner) {
  return toMessage(shipmentRecord(row, caller));
}

export function shipmentJson(row: ShipmentRow, caller: Owner) {
  return toJson(shipmentRecord(row, caller));
}

/** A shipment as callers see it. What is shown as it is stored is not named here. */
export function shipmentRecord(row: ShipmentRow, { test, trackingUrlOf, keyScope }: Owner) {
  const { currency, windows, paymentDetails, verification } = row;
  const pin = verification?.by === "pin" ? verification.pin : undefined;
  const lines = breakDown(row.fees, row.weightKg, row, windowFeesOf(row)) ?? [];
  return {
    ...row,
    distanceFee: toMajor(row.distanceFeeMinor, currency),
    weightFee: toMajor(row.weightFeeMinor, currency),
    baseFee: toMajor(row.baseFeeMinor, currency),
    subtotal: toMajor(row.subtotalMinor, currency),
    total: toMajor(row.totalMinor, currency),
    windowFee: toMajor(row.windowFeeMinor, currency),
    customer: customerRecord(row.customer),
    etag: String(row.version),
    test,
    trackingUrl: trackingUrlOf?.(row.reference),
    pickupWindow: windows?.pickup,
    dropoffWindow: windows?.dropoff,
    breakdown: breakdownRecord(lines, currency),
    paymentDetails: paymentDetails && detailsRecord(paymentDetails, currency),
    dropoffVerification: verification?.by ?? "none",
    // Whoever carries it has to be told by its recipient.
    dropoffPin: keyScope === "courier" ? undefined : pin,
    ...progressRecord(row),
  };
}

function progressRecord({ status, progress }: ShipmentRow) {
  const reported = progress ?? NO_PROGRESS;
  const { courier, etas, attempts, proof } = reported;
  return {
    courier,
    stage: stageOf(status, reported),
    pickupEta: etas.pickup,
    dropoffEta: etas.dropoff,
    proof,
    attempts: attempts.map((attempt) => ({ ...attempt, attemptedAt: attempt.atMs })),
  };
}

function detailsRecord(details: PaymentDetails, currency: string) {
  const { checkout, refundedMinor, disputedMinor = 0, uncounted, unseen } = details;
  return {
    ...details,
    checkoutUrl: checkout?.url,
    checkoutExpiresAt: checkout?.expiresAtMs,
    refundedAmount: toMajor(refundedMinor, currency),
    disputedAmount: toMajor(disputedMinor, currency),
    // Also money that may have been taken.
    uncounted: (uncounted ?? unseen) !== undefined,
  };
}
