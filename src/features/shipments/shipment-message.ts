import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CancelReason as CancelReasonMessage,
  DisputeStatus as DisputeStatusMessage,
  PaymentDetailsSchema,
  type PaymentDetails as PaymentDetailsMessage,
  PaymentStatus as PaymentStatusMessage,
  ShipmentStatus as ShipmentStatusMessage,
  type Shipment as ShipmentMessage,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { inverseOf } from "../../db/columns.ts";
import { breakDown, type BreakdownLine } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import type { DisputeStatus, PaymentDetails } from "../../domain/shipment/payment-details.ts";
import type {
  CancelReason,
  PaymentStatus,
  ShipmentStatus,
} from "../../domain/shipment/shipment-state.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { breakdownJson, breakdownMessage } from "../quotes/breakdown-message.ts";
import { customerMessage } from "../customers/customer.entity.ts";
import { windowMessage } from "../tariffs/versions/window-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { bookedWindows, windowFeesOf, type StoredWindow } from "./shipment-windows.ts";

const STATUS: Readonly<Record<ShipmentStatus, ShipmentStatusMessage>> = {
  pending: ShipmentStatusMessage.PENDING,
  awaiting_pickup: ShipmentStatusMessage.AWAITING_PICKUP,
  in_transit: ShipmentStatusMessage.IN_TRANSIT,
  delivered: ShipmentStatusMessage.DELIVERED,
  cancelled: ShipmentStatusMessage.CANCELLED,
};

const PAYMENT_STATUS: Readonly<Record<PaymentStatus, PaymentStatusMessage>> = {
  awaiting_payment: PaymentStatusMessage.AWAITING_PAYMENT,
  paid: PaymentStatusMessage.PAID,
  refund_pending: PaymentStatusMessage.REFUND_PENDING,
  refunded: PaymentStatusMessage.REFUNDED,
  voided: PaymentStatusMessage.VOIDED,
};

const DISPUTE_STATUS: Readonly<Record<DisputeStatus, DisputeStatusMessage>> = {
  open: DisputeStatusMessage.OPEN,
  won: DisputeStatusMessage.WON,
  lost: DisputeStatusMessage.LOST,
};

const CANCEL_REASON: Readonly<Record<CancelReason, CancelReasonMessage>> = {
  customer_request: CancelReasonMessage.CUSTOMER_REQUEST,
  booked_in_error: CancelReasonMessage.BOOKED_IN_ERROR,
  goods_unavailable: CancelReasonMessage.GOODS_UNAVAILABLE,
  address_problem: CancelReasonMessage.ADDRESS_PROBLEM,
  payment_problem: CancelReasonMessage.PAYMENT_PROBLEM,
  other: CancelReasonMessage.OTHER,
};

/** Whether a caller is in test mode, and so all that is theirs. */
type OwnMode = Pick<WorkspaceCaller, "test">;

/** The stored value of an enum that a caller sends; undefined when it sends none. */
export const statusOf = inverseOf(STATUS);
export const paymentStatusOf = inverseOf(PAYMENT_STATUS);
export const cancelReasonOf = inverseOf(CANCEL_REASON);

/**
 * A shipment as callers see it: the only place where rows become messages.
 *
 * @param caller whose it is
 */
export function shipmentMessage(row: ShipmentRow, { test }: OwnMode): ShipmentMessage {
  const { currency } = row;
  const { pickup, dropoff } = bookedWindows(row.windows);
  return {
    $typeName: "shipments.v1.Shipment",
    reference: row.reference,
    status: STATUS[row.status],
    paymentStatus: PAYMENT_STATUS[row.paymentStatus],
    createdBy: row.createdBy ?? undefined,
    pickupAddress: row.pickupAddress,
    pickupLat: row.pickupLat,
    pickupLng: row.pickupLng,
    dropoffAddress: row.dropoffAddress,
    dropoffLat: row.dropoffLat,
    dropoffLng: row.dropoffLng,
    weightKg: row.weightKg,
    distanceKm: row.distanceKm,
    distanceFee: toMajor(row.distanceFeeMinor, currency),
    weightFee: toMajor(row.weightFeeMinor, currency),
    baseFee: toMajor(row.baseFeeMinor, currency),
    subtotal: toMajor(row.subtotalMinor, currency),
    total: toMajor(row.totalMinor, currency),
    currency,
    customer: customerMessage(row.customer),
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    cancelledAt: row.cancelledAt === null ? undefined : timestampFromDate(row.cancelledAt),
    cancelReason: row.cancelReason === null ? undefined : CANCEL_REASON[row.cancelReason],
    cancelNote: row.cancelNote ?? undefined,
    externalReference: row.externalReference ?? undefined,
    metadata: { ...row.metadata },
    etag: String(row.version),
    test,
    quoteId: row.quoteId ?? undefined,
    windowFee: toMajor(row.windowFeeMinor, currency),
    pickupWindow: pickup && windowMessage(pickup),
    dropoffWindow: dropoff && windowMessage(dropoff),
    breakdown: breakdownMessage(linesOf(row), currency),
    paymentDetails:
      row.paymentDetails === null ? undefined : detailsMessage(row.paymentDetails, currency),
  };
}

function linesOf(row: ShipmentRow): readonly BreakdownLine[] {
  return breakDown(row.fees, row.weightKg, row, windowFeesOf(row)) ?? [];
}

function detailsMessage(
  { checkout, dispute, ...details }: PaymentDetails,
  currency: string,
): PaymentDetailsMessage {
  return create(PaymentDetailsSchema, {
    checkoutUrl: checkout?.url,
    checkoutExpiresAt:
      checkout === null ? undefined : timestampFromDate(new Date(checkout.expiresAtMs)),
    processing: details.processing,
    error: details.error ?? undefined,
    refundError: details.refundError ?? undefined,
    refundedAmount: toMajor(details.refundedMinor, currency),
    disputedAmount: toMajor(details.disputedMinor ?? 0, currency),
    uncounted: hasUncounted(details),
    dispute: dispute === null ? undefined : DISPUTE_STATUS[dispute],
  });
}

/** Whether money was taken, or may have been, that does not count. */
function hasUncounted({ uncounted, unseen }: Pick<PaymentDetails, "uncounted" | "unseen">) {
  return (uncounted ?? unseen) !== undefined;
}

/** What a shipment does not show of its customer. */
const UNSHOWN = {
  phone: null,
  notes: null,
  default_pickup: null,
  default_dropoff: null,
  figures: null,
  etag: null,
} as const;

/**
 * A shipment as the JSON dialect of `/v1` writes its message: what
 * `compileEncodeJson(ShipmentSchema)` makes of `shipmentMessage`, without making the message. A test
 * holds the two equal.
 */
export function shipmentJson(row: ShipmentRow, { test }: OwnMode) {
  const { currency, customer } = row;
  return {
    reference: row.reference,
    status: row.status,
    payment_status: row.paymentStatus,
    created_by: row.createdBy,
    pickup_address: row.pickupAddress,
    pickup_lat: row.pickupLat,
    pickup_lng: row.pickupLng,
    dropoff_address: row.dropoffAddress,
    dropoff_lat: row.dropoffLat,
    dropoff_lng: row.dropoffLng,
    weight_kg: row.weightKg,
    distance_km: row.distanceKm,
    distance_fee: toMajor(row.distanceFeeMinor, currency),
    weight_fee: toMajor(row.weightFeeMinor, currency),
    base_fee: toMajor(row.baseFeeMinor, currency),
    subtotal: toMajor(row.subtotalMinor, currency),
    total: toMajor(row.totalMinor, currency),
    currency,
    customer: {
      id: customer.id,
      name: customer.name,
      email: customer.email,
      id_number: customer.idNumber,
      ...UNSHOWN,
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    cancelled_at: row.cancelledAt?.toISOString() ?? null,
    cancel_reason: row.cancelReason,
    cancel_note: row.cancelNote,
    external_reference: row.externalReference,
    metadata: row.metadata,
    etag: String(row.version),
    test,
    quote_id: row.quoteId,
    window_fee: toMajor(row.windowFeeMinor, currency),
    pickup_window: windowJson(row.windows?.pickup),
    dropoff_window: windowJson(row.windows?.dropoff),
    breakdown: breakdownJson(linesOf(row), currency),
    payment_details: row.paymentDetails === null ? null : detailsJson(row.paymentDetails, currency),
  };
}

function detailsJson({ checkout, ...details }: PaymentDetails, currency: string) {
  return {
    checkout_url: checkout?.url ?? null,
    checkout_expires_at: checkout === null ? null : new Date(checkout.expiresAtMs).toISOString(),
    processing: details.processing,
    error: details.error,
    refund_error: details.refundError,
    refunded_amount: toMajor(details.refundedMinor, currency),
    dispute: details.dispute,
    disputed_amount: toMajor(details.disputedMinor ?? 0, currency),
    uncounted: hasUncounted(details),
  };
}

function windowJson(window: StoredWindow | null | undefined) {
  return window ? { start: window.start, end: window.end, time_zone: window.timeZone } : null;
}
