import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PaymentSchema,
  type Payment as PaymentMessage,
} from "../../../gen/shipments/v1/payment_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import type { NewPayment } from "./insert-payment.ts";
import type { Payment } from "./payment.entity.ts";

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
