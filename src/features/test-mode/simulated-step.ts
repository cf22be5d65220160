import type { Point } from "../../domain/coverage/geo.ts";
import { paymentText, stateError } from "../../domain/shipment/shipment-state.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "../../domain/shipment/payment-details.ts";
import type { SimulatedStep } from "../../domain/shipment/simulation.ts";
import type { Transaction } from "../../db/transaction.ts";
import { TEST } from "../payments/payment-providers.ts";
import { schedulePoll } from "../payments/provider-payments.ts";
import {
  assertRefundable,
  applyManualRecord,
  IS_AT_CONNECTED_ACCOUNT,
  type PaymentChange,
  refundInTestMode,
  writePayment,
} from "../payments/stored-payment.ts";
import { NO_PROGRESS } from "../../domain/shipment/delivery-progress.ts";
import { isVerified } from "../../domain/shipment/delivery-proof.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import { movePlace } from "../shipments/courier-places.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import { type Pictures, writePictures } from "../shipments/proof-picture.entity.ts";
import { prove } from "../shipments/record-proof.ts";
import { assignCourier, failAttempt, reportCourier } from "../shipments/report-progress.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { SAMPLE_PICTURES } from "./sample-pictures.ts";

const SELECT = `select ${IS_AT_CONNECTED_ACCOUNT} as "isAtConnected"`;

export async function hasCheckout(tx: Transaction, { workspace, reference }: ShipmentKey): Promise<boolean> {
  const [row] = await tx.send<{ isAtConnected: boolean | null }>(SELECT, [workspace, reference]);
  return row!.isAtConnected === true;
}

const MINUTE_MS = 60_000;
const COURIER = {
  name: "Test courier",
  phone: "+12025550123",
  vehicle: "Cargo bike",
  externalId: "test",
};

/** Steps that change the shipment's delivery. All others change its payment. */
const DELIVERY_STEPS: ReadonlySet<SimulatedStep> = new Set([
  "assign_courier",
  "arrive",
  "pick_up",
  "travel",
  "fail_attempt",
  "deliver",
  "return",
  "cancel",
]);

/**
 * Applies a simulated step to a shipment. A payment at a checkout can only be made at the payment
 * provider, even in test mode.
 *
 * @param isAtProvider whether the shipment has a checkout at the connected account
 * @throws Refusal SHIPMENT_STATE if the shipment's state does not allow the step, PAYMENT_DISPUTED
 */
export function applyStep(before: ShipmentRow, step: SimulatedStep, at: Date, isAtProvider: boolean): PaymentChange {
  if (isAtProvider && !DELIVERY_STEPS.has(step)) {
    throw stateError(
      "The shipment has a checkout, so its payment cannot be simulated. Pay, refund or dispute it at the payment provider.",
    );
  }
  return { before, row: APPLY[step](before, at), at };
}

const APPLY: Readonly<Record<SimulatedStep, (row: ShipmentRow, at: Date) => ShipmentRow>> = {
  pay: (row, at) => applyManualRecord(applyTrigger(row, "pay", at)),
  decline_payment(row, at) {
    if (row.paymentStatus !== "awaiting_payment") throw paymentError("be declined", row);
    if (row.paymentDetails?.error) throw impossible("be declined", "it was declined already");
    return withDetails(row, { error: "The card was declined." }, at);
  },
  assign_courier(row, at) {
    const dropoff = at.getTime() + 30 * MINUTE_MS;
    const isOnItsWay = row.status === "in_transit";
    const etas = isOnItsWay ? { dropoff } : { pickup: at.getTime() + 10 * MINUTE_MS, dropoff };
    return reportCourier(assignCourier(row, COURIER, at), { etas }, at);
  },
  arrive: (row, at) => reportCourier(row, { arrivedAt: row.status === "in_transit" ? "dropoff" : "pickup" }, at),
  travel(row, at) {
    if (row.status !== "in_transit") throw impossible("be brought nearer", "it is not in transit");
    return reportCourier(row, { etas: { dropoff: at.getTime() + 15 * MINUTE_MS } }, at);
  },
  fail_attempt: (row, at) => failAttempt(row, attemptOf(row), at),
  return: (row, at) => applyTrigger(row, "return", at),
  pick_up(row, at) {
    if (row.status === "in_transit") throw impossible("be picked up", "it is in transit");
    return applyTrigger(row, "advance", at);
  },
  deliver(row, at) {
    if (row.status === "awaiting_pickup") throw impossible("be delivered", "it is awaiting pickup");
    return applyTrigger(verified(row, at), "advance", at);
  },
  cancel: (row, at) => ({
    ...applyTrigger(row, "cancel", at),
    cancelReason: "other",
    cancelNote: "Cancelled by the simulator.",
  }),
  refund: refundInTestMode,
  fail_refund(row, at) {
    if (row.paymentStatus !== "refund_pending") throw paymentError("have a refund fail", row);
    assertRefundable(row);
    if (row.paymentDetails?.refundError) {
      throw impossible("have a refund fail", "it has failed already");
    }
    return withDetails(row, { refundError: "The bank refused the refund." }, at);
  },
  open_dispute(row, at) {
    const isPaid = row.paymentStatus === "paid" || row.paymentStatus === "refund_pending";
    if (!isPaid) throw paymentError("be disputed", row);
    if (row.paymentDetails?.dispute) throw impossible("be disputed", "it has already been disputed");
    return withDetails(row, { dispute: "open" }, at);
  },
  win_dispute: (row, at) => withDetails(disputed(row), { dispute: "won" }, at),
  lose_dispute(row, at) {
    const { refundedMinor } = disputed(row).paymentDetails!;
    const disputedMinor = row.totalMinor - refundedMinor;
    const lost = withDetails(row, { dispute: "lost", disputedMinor }, at);
    // The bank returned the remaining amount to the buyer, so a pending refund is complete.
    return row.paymentStatus === "refund_pending" ? applyTrigger(lost, "refund", at) : lost;
  },
};

/**
 * Queues the writes of a step: payment, pictures and courier position. If the payment is at a
 * provider, schedules a poll that refunds the payment or expires the checkout.
 *
 * @param now the real time
 */
export function writeStep(tx: Transaction, key: ShipmentKey, change: PaymentChange, now: Date): void {
  writePayment(tx, key, TEST.name, change);
  writePictures(tx, key, takenAtDoor(change), now);
  const place = courierPlace(change);
  if (place !== undefined) movePlace(tx, key, place, now);
  if (change.row.paymentDetails !== null) schedulePoll(tx, key, now);
}

/**
 * Returns the courier's position after a step: the pickup, the dropoff or halfway between them.
 * `undefined` for steps that do not move the courier.
 */
function courierPlace({ before, row }: PaymentChange): Point | undefined {
  const { courier, arrivedAt, etas } = row.progress ?? NO_PROGRESS;
  if (courier === null) return undefined;
  const { pickupLat, pickupLng, dropoffLat, dropoffLng } = row;
  if (arrivedAt === "dropoff") return { lat: dropoffLat, lng: dropoffLng };
  const isPickedUp = row.status === "in_transit" && before.status !== row.status;
  if (arrivedAt === "pickup" || isPickedUp) return { lat: pickupLat, lng: pickupLng };
  const isNearer = row.status === "in_transit" && etas.dropoff !== before.progress?.etas.dropoff;
  return isNearer && etas.dropoff !== null
    ? { lat: (pickupLat + dropoffLat) / 2, lng: (pickupLng + dropoffLng) / 2 }
    : undefined;
}

/**
 * Returns a failed attempt. If a PIN is required, the reason is a wrong PIN. Otherwise the reason is that no one was
 * there.
 */
function attemptOf({ status, verification }: ShipmentRow): Parameters<typeof failAttempt>[1] {
  return status === "in_transit" && verification?.by === "pin"
    ? { reason: "other", note: "The PIN was wrong." }
    : { reason: "nobody_there", note: null };
}

/** Records the required verification, if it is missing. */
function verified(row: ShipmentRow, at: Date): ShipmentRow {
  const { verification, progress } = row;
  if (verification === null || isVerified(verification, progress?.proof)) return row;
  const { by } = verification;
  return prove(row, { [by === "pin" ? "pinVerified" : by]: true }, at);
}

function takenAtDoor({ before, row }: PaymentChange): Pictures {
  const kinds = (["photo", "signature"] as const).filter(
    (kind) => row.progress?.proof?.[kind] && !before.progress?.proof?.[kind],
  );
  return Object.fromEntries(kinds.map((kind) => [kind, SAMPLE_PICTURES[kind]]));
}

function withDetails(row: ShipmentRow, changed: Partial<PaymentDetails>, at: Date): ShipmentRow {
  const paymentDetails = { ...(row.paymentDetails ?? NO_PAYMENT_DETAILS), ...changed };
  return { ...row, paymentDetails, updatedAt: at };
}

function disputed(row: ShipmentRow): ShipmentRow {
  if (row.paymentDetails?.dispute === "open") return row;
  throw impossible("have a dispute closed", "none is open");
}

function paymentError(what: string, { paymentStatus }: ShipmentRow) {
  return impossible(what, paymentText(paymentStatus));
}

function impossible(what: string, reason: string) {
  return stateError(`The shipment cannot ${what} because ${reason}.`);
}
