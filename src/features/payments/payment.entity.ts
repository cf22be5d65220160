import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { ofShipment } from "../shipments/shipment.entity.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Payment of a shipment, which has at most one. Never deleted. Amounts are in minor units. */
export const Payment = defineEntity({
  name: "Payment",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    shipment: () => ofShipment().deleteRule("no action"),
    provider: p.text().$type<PaymentProviderName>(),
    amountMinor: p.bigint("number"),
    currency: p.character().length(3),
    paidAt: p.datetime(3),
    /** Null until refunded. */
    refundedAt: p.datetime(3).nullable(),
  },
  checks: [
    { name: "payment_provider", expression: "provider in ('manual', 'test', 'stripe')" },
    { name: "payment_amount_positive", expression: "amount_minor >= 0" },
    { name: "payment_currency_form", expression: "currency ~ '^[A-Z]{3}$'" },
    { name: "payment_refunded_after_paid", expression: "refunded_at >= paid_at" },
  ],
});

export type Payment = InferEntity<typeof Payment>;
