import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

/** The payment providers a workspace can connect. */
export const PAYMENT_PROVIDERS = ["manual"] as const;

/** The name of a payment provider. */
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

/** The payment provider a workspace has connected; no row while it has none. */
export const PaymentConnection = defineEntity({
  name: "PaymentConnection",
  tableName: "payment_connection",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    provider: p.text().$type<PaymentProviderName>(),
    connectedAt: p.datetime(3),
  },
  checks: [{ name: "payment_connection_provider", expression: "provider in ('manual')" }],
});

export type PaymentConnection = InferEntity<typeof PaymentConnection>;
