import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

/**
 * A notice of a payment provider: that something happened, which is then read there. A table of the
 * platform, since one account may be of several workspaces, and a provider's ids are unique in all of it.
 */
export const PaymentNotice = defineEntity({
  name: "PaymentNotice",
  tableName: "payment_notice",
  primaryKeys: ["provider", "id"],
  properties: {
    provider: p.text().$type<PaymentProviderName>().primary(),
    id: p.text().primary(),
    /** In the provider's words, such as `charge.refunded`. */
    type: p.text(),
    /** Whether it is of the provider's live mode: an account has the same name in both. */
    live: p.boolean().default(true),
    /** The account that it is about. */
    account: p.text(),
    /** The shipment that it names; null when it names none. */
    shipment: p.text().nullable(),
    /** The provider's id of the payment that it is about; null when it is about none. */
    payment: p.text().nullable(),
    receivedAt: p.datetime(3),
    /** When to look at it next; null once it was, or nobody's. */
    dueAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
  indexes: [
    { name: "payment_notice_due", properties: ["dueAt"], where: "due_at is not null" },
    { name: "payment_notice_by_age", properties: ["receivedAt"] },
    { name: "payment_notice_of_test", properties: ["account"], where: "not live" },
  ],
});

export type PaymentNotice = InferEntity<typeof PaymentNotice>;
