import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PaymentSchema,
  type Payment as PaymentMessage,
} from "../../../gen/shipments/v1/payment_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import type { Payment } from "./payment.entity.ts";

/** A payment that is not refunded. */
export type NewPayment = Pick<Payment, "provider" | "amountMinor" | "currency" | "paidAt">;

/** A payment as callers see it, with its amount in major units. */
export function paymentMessage(
  payment: NewPayment & Partial<Pick<Payment, "refundedAt">>,
): PaymentMessage {
  return create(PaymentSchema, {
    provider: payment.provider,
    amount: toMajor(payment.amountMinor, payment.currency),
    currency: payment.currency,
    paidAt: timestampFromDate(payment.paidAt),
    refundedAt: payment.refundedAt ? timestampFromDate(payment.refundedAt) : undefined,
  });
}
