import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

const PAYMENT_PROVIDERS = ["manual", "stripe"] as const;

/** Name of a payment provider. `test` is the default of a test twin, and never used by live workspaces. */
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number] | "test";

/** State of the connected account. Bookings require `ready`. */
const CONNECTION_STATES = ["onboarding", "ready", "restricted", "revoked"] as const;

export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** SQL condition for accounts that can no longer take payments. */
export const STOPPED = "state in ('restricted', 'revoked')";

/** The connected payment provider of a workspace. No row if none is connected. */
export const PaymentConnection = defineEntity({
  name: "PaymentConnection",
  tableName: "payment_connection",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    provider: p.text().$type<PaymentProviderName>(),
    connectedAt: p.datetime(3),
    state: p.text().$type<ConnectionState>().default("ready"),
    /** Account at the provider. Null for a provider without accounts. */
    account: p.text().nullable(),
    /** Whether the account is in the provider's live mode. Null without an account. */
    live: p.boolean().nullable(),
    /** The account's own key, sealed. Null if the platform's key is used. */
    ownKey: p.text().nullable(),
    /** Signing secrets of the workspace's own events, comma-separated and sealed. Set together with the key. */
    webhookSecrets: p.text().fieldName("notice_secrets").nullable(),
    /** Requirements that the provider still has, by its own names. */
    missing: p.json().$type<readonly string[]>().defaultRaw("'[]'"),
    /** Whether the account replaced `manual`, which is restored when the account is disconnected. */
    replacedManual: p.boolean().default(false),
    /** Time of the last check. Null without an account. */
    checkedAt: p.datetime(3).nullable(),
    /** Time of the next check, or end of the lease of a running one. Null without an account. */
    checkAt: p.datetime(3).nullable(),
    /** Events up to this time are known. Null to read all that the provider still lists. */
    eventsReadUntil: p.datetime(3).fieldName("heard_until").nullable(),
  },
  indexes: [
    // Not by workspace, for events to the platform and for checks of accounts.
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
