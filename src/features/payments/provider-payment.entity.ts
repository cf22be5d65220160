import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { ofShipment } from "../shipments/shipment.entity.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * State of a checkout. `wanted`: requested, and the provider's response is pending or was lost.
 * `open`: its id is known. `closed`: it can no longer be paid, so another checkout can be opened.
 */
export type CheckoutState = "wanted" | "open" | "closed";

/**
 * State of a shipment's payment at the provider. Created with the first checkout and reused for later checkouts.
 * Amounts are in minor units.
 */
export const ProviderPayment = defineEntity({
  name: "ProviderPayment",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("no action"),
    provider: p.text().$type<PaymentProviderName>(),
    account: p.text(),
    /** Number of the shipment's current checkout, from 1. Earlier checkouts can no longer be paid. */
    version: p.integer(),
    state: p.text().$type<CheckoutState>(),
    amountMinor: p.bigint("number"),
    currency: p.character().length(3),
    successUrl: p.text(),
    cancelUrl: p.text(),
    expiresAt: p.datetime(3),
    /** The provider's id of the checkout. Null until the provider responds. */
    checkout: p.text().nullable(),
    /** The provider's id of the payment. Null until the first attempt to pay. */
    payment: p.text().nullable(),
    /** Number of the current refund attempt, from 1. */
    refundAttempt: p.integer().default(1),
    /** Error with which the provider refused the current refund attempt, or null. */
    refundRefusal: p.text().nullable(),
    /** Time of the next poll. Null if no change is expected or the account is inaccessible. */
    dueAt: p.datetime(3).nullable(),
    /** Whether an event arrived or a caller is waiting. Such payments are polled first. */
    isNotified: p.boolean().fieldName("told").default(false),
    /** Number of consecutive failed polls. If above 0 and `dueAt` is null, the account is inaccessible. */
    failures: p.integer().default(0),
    /** Number of requests for an immediate poll. If it increases during a poll, another poll is due. */
    pollRequests: p.integer().fieldName("wakes").default(0),
    /** Id of the worker that holds the lease. */
    worker: p.text().nullable(),
    leasedUntil: p.datetime(3).nullable(),
  },
  indexes: [
    { name: "provider_payment_due", properties: ["dueAt"], where: "due_at is not null" },
    { name: "provider_payment_told", properties: ["dueAt"], where: "told" },
    {
      name: "provider_payment_open",
      properties: ["workspace", "dueAt"],
      where: "due_at is not null or failures > 0",
    },
    { name: "provider_payment_by_payment", properties: ["workspace", "payment"] },
  ],
  checks: [
    { name: "provider_payment_provider", expression: "provider in ('manual', 'stripe')" },
    { name: "provider_payment_state", expression: "state in ('wanted', 'open', 'closed')" },
    {
      name: "provider_payment_counts",
      expression: "version >= 1 and refund_attempt >= 1 and failures >= 0 and amount_minor >= 0",
    },
  ],
});

export type ProviderPayment = InferEntity<typeof ProviderPayment>;
