import { create, type DescMessage } from "@bufbuild/protobuf";
import { DropoffVerificationSchema } from "../../../gen/shipments/v1/courier_pb.js";
import { CustomerSchema } from "../../../gen/shipments/v1/customer_pb.js";
import {
  CancelReasonSchema,
  PaymentStatusSchema,
  type Shipment,
  ShipmentSchema,
  ShipmentStatusSchema,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { breakDown } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { NO_PROGRESS, stageOf } from "../../domain/shipment/delivery-progress.ts";
import type { DropoffVerification } from "../../domain/shipment/delivery-proof.ts";
import type { PaymentDetails } from "../../domain/shipment/payment-details.ts";
import type { CancelReason, PaymentStatus, ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import {
  compileEnumName,
  compileEnumNumber,
  compileToJson,
  compileToMessage,
  type RecordOf,
} from "../../json/records.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { customerRecord } from "../customers/customer.entity.ts";
import { breakdownRecord } from "../quotes/breakdown-record.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { windowFeesOf } from "./shipment-windows.ts";

/** Properties of the caller that determine a shipment's fields. */
type Owner = Pick<WorkspaceCaller, "test" | "trackingUrlOf"> & Partial<Pick<WorkspaceCaller, "keyScope">>;

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

/** Returns a shipment for events. Omits the PIN, which event receivers must not see. */
export function shipmentEventMessage(row: ShipmentRow, owner: Owner) {
  return toMessage({ ...fullRecord(row, owner), dropoffPin: undefined });
}

/** Returns a shipment with the fields that the caller may see. */
export function shipmentRecord(row: ShipmentRow, caller: Owner): RecordOf<Shipment> {
  const record = fullRecord(row, caller);
  if (caller.keyScope !== "courier") return record;
  const customer = { ...record.customer!, ...HIDDEN_CUSTOMER_FIELDS };
  return { ...record, ...HIDDEN_FIELDS, customer };
}

/** Shipment fields that keys with the courier scope can read. A courier is a third party and needs no other fields. */
const COURIER_FIELDS = [
  "reference",
  "status",
  "paymentStatus",
  "test",
  "etag",
  "createdAt",
  "updatedAt",
  "cancelledAt",
  "deliveredAt",
  "returnedAt",
  "pickupAddress",
  "pickupLat",
  "pickupLng",
  "dropoffAddress",
  "dropoffLat",
  "dropoffLng",
  "distanceKm",
  "weightKg",
  "pickupWindow",
  "dropoffWindow",
  "customer",
  "recipientName",
  "recipientPhone",
  "recipientLocale",
  "pickupContactName",
  "pickupContactPhone",
  "pickupInstructions",
  "dropoffInstructions",
  "packageCount",
  "packageDescription",
  "items",
  "dropoffHandover",
  "ifUndeliverable",
  "courier",
  "stage",
  "pickupEta",
  "dropoffEta",
  "attempts",
  "dropoffVerification",
  "proof",
] as const satisfies readonly (keyof Shipment)[];

/**
 * Customer fields that keys with the courier scope can read. The name is used as the recipient if no recipient is
 * given.
 */
const COURIER_CUSTOMER_FIELDS = ["name"];

const HIDDEN_FIELDS = unsetExcept(ShipmentSchema, COURIER_FIELDS);
const HIDDEN_CUSTOMER_FIELDS = unsetExcept(CustomerSchema, COURIER_CUSTOMER_FIELDS);

/** Returns the unset values of all fields except the shown ones. */
function unsetExcept(schema: DescMessage, shown: readonly string[]): object {
  const unset = create(schema) as unknown as Readonly<Record<string, unknown>>;
  const hidden = schema.fields.filter(({ localName }) => !shown.includes(localName));
  return Object.fromEntries(hidden.map(({ localName }) => [localName, unset[localName]]));
}

/**
 * Returns all fields of a shipment. `...row` contains the fields that need no conversion: if one is missing, add its
 * column to `shipment.entity.ts`.
 */
function fullRecord(row: ShipmentRow, { test, trackingUrlOf }: Owner): RecordOf<Shipment> {
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
    dropoffPin: pin,
    ...progressRecord(row),
  };
}

function progressRecord({ status, progress }: ShipmentRow) {
  const reported = progress ?? NO_PROGRESS;
  const { courier, etas, attempts, proof } = reported;
  return {
    courier: courier && { courierId: null, sequence: null, ...courier },
    stage: stageOf(status, reported),
    pickupEta: etas.pickup,
    dropoffEta: etas.dropoff,
    proof,
    attempts: attempts.map((attempt) => ({ photo: false, ...attempt, attemptedAt: attempt.atMs })),
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
    disputeRefundable: details.disputeRefundable === true,
    // Also true for unverified payments.
    uncounted: (uncounted ?? unseen) !== undefined,
  };
}
