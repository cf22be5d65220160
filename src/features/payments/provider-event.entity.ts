import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

/**
 * A payment provider's event. It only triggers a poll of the payment and its contents are not trusted. The table has no
 * workspace column, because several workspaces can share an account and event ids are unique per provider.
 */
export const StoredProviderEvent = defineEntity({
  name: "StoredProviderEvent",
  tableName: "payment_notice",
  primaryKeys: ["provider", "id"],
  properties: {
    provider: p.text().$type<PaymentProviderName>().primary(),
    id: p.text().primary(),
    /** Event type of the provider, such as `charge.refunded`. */
    type: p.text(),
    /** Whether the event belongs to the provider's live mode. An account has the same id in both modes. */
    live: p.boolean().default(true),
    account: p.text(),
    shipment: p.text().nullable(),
    /** The provider's id of the payment that the event names, or null. */
    payment: p.text().nullable(),
    receivedAt: p.datetime(3),
    /** Time of the next attempt. Null once the event is processed or dropped. */
    dueAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
  },
  indexes: [
    { name: "payment_notice_due", properties: ["dueAt"], where: "due_at is not null" },
    { name: "payment_notice_by_age", properties: ["receivedAt"] },
    { name: "payment_notice_of_test", properties: ["account"], where: "not live" },
  ],
});

export type StoredProviderEvent = InferEntity<typeof StoredProviderEvent>;
