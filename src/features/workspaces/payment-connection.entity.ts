import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

const PAYMENT_PROVIDERS = ["manual", "stripe"] as const;

/** Name of a payment provider. `test` is the default of test twins and is never used by live workspaces. */
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number] | "test";

/** States of a connected account. Bookings require `ready`. */
const CONNECTION_STATES = ["onboarding", "ready", "restricted", "revoked"] as const;

export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** SQL condition for accounts that can no longer take payments. */
export const STOPPED = "state in ('restricted', 'revoked')";

/** The payment provider to which a workspace is connected. There is no row if none is connected. */
export const PaymentConnection = defineEntity({
  name: "PaymentConnection",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    provider: p.text().$type<PaymentProviderName>(),
    connectedAt: p.datetime(3),
    state: p.text().$type<ConnectionState>().default("ready"),
    /** Account at the provider. null for a provider without accounts. */
    account: p.text().nullable(),
    /** Whether the account is in the provider's live mode. null if there is no account. */
    live: p.boolean().nullable(),
    /** Sealed key of the account. null if the platform's key is used. */
    ownKey: p.text().nullable(),
    /**
     * Sealed, comma-separated signing secrets of the events that the provider sends for the
     * workspace's own key. Set together with `ownKey`.
     */
    webhookSecrets: p.text().fieldName("notice_secrets").nullable(),
    /** Requirements that the account does not meet yet, as named by the provider. */
    missing: p.json().$type<readonly string[]>().defaultRaw("'[]'"),
    /** Whether the account replaced the provider `manual`. If so, disconnecting the account restores `manual`. */
    replacedManual: p.boolean().default(false),
    /** Time of the last account check. null if there is no account. */
    checkedAt: p.datetime(3).nullable(),
    /** Time of the next account check, or expiry of a running check's lease. null if there is no account. */
    checkAt: p.datetime(3).nullable(),
    /** Time up to which events have been read. null to read all events that the provider still lists. */
    eventsReadUntil: p.datetime(3).fieldName("heard_until").nullable(),
  },
  indexes: [
    // Index by account only, because provider events sent to the platform have no workspace.
    { name: "payment_connection_account", properties: ["account"] },
    { name: "payment_connection_by_check", properties: ["checkAt"] },
    { name: "payment_connection_stopped", properties: ["workspace"], where: STOPPED },
  ],
  checks: [
    {
      name: "payment_connection_provider",
      expression: `provider in (${quoteAll([...PAYMENT_PROVIDERS, "test"])})`,
    },
    { name: "payment_connection_state", expression: `state in (${quoteAll(CONNECTION_STATES)})` },
  ],
});

export type PaymentConnection = InferEntity<typeof PaymentConnection>;

function quoteAll(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}
