import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { ofShipment } from "../shipments/shipment.entity.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * How far a checkout has come: `wanted` is to be opened, or the answer of the provider is not known;
 * `open` is known by its id; `closed` can be paid no more, so that another may be opened.
 */
export type CheckoutState = "wanted" | "open" | "closed";

/**
 * What is known at a payment provider of a shipment's payment, and when to look there next; there is none
 * before its first checkout. Amounts are in minor units.
 */
export const ProviderPayment = defineEntity({
  name: "ProviderPayment",
  tableName: "provider_payment",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("no action"),
    provider: p.text().$type<PaymentProviderName>(),
    /** The account at the provider that is paid. */
    account: p.text(),
    /** Counts the checkouts of the shipment from 1, of which at most one can be paid. */
    version: p.integer(),
    state: p.text().$type<CheckoutState>(),
    amountMinor: p.bigint("number"),
    currency: p.character().length(3),
    successUrl: p.text(),
    cancelUrl: p.text(),
    expiresAt: p.datetime(3),
    /** The checkout's id at the provider; null before the answer of the provider. */
    checkout: p.text().nullable(),
    /** The payment's id at the provider; null while nobody has tried to pay. */
    payment: p.text().nullable(),
    /** Counts the attempts at a refund from 1. */
    refundAttempt: p.integer().default(1),
    /** Why the provider refused to make that attempt; null when it did not. */
    refundRefusal: p.text().nullable(),
    /** When to look there next; null when nothing is open, or the account is closed to us. */
    dueAt: p.datetime(3).nullable(),
    /** Whether it is due because something was told, or somebody waits for it: then it overtakes the others. */
    told: p.boolean().default(false),
    /** How many looks in a row have failed; of one that is due no more, when its account was closed to us. */
    failures: p.integer().default(0),
    /** Counts the reasons to look at once, so that one that comes during a look is not lost. */
    wakes: p.integer().default(0),
    /** Which worker looks now; its lease ends by itself. */
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
