import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

export const PAYMENT_PROVIDERS = ["manual", "stripe"] as const;

/** The name of a payment provider. `test` is that of a test twin that has connected no other, and of no live workspace. */
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number] | "test";

/** Whether a provider takes payments for a workspace; only one that is ready lets it book. */
export const CONNECTION_STATES = ["onboarding", "ready", "restricted", "revoked"] as const;

export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** Of providers that took payments once, or were to, and do not. */
export const STOPPED = "state in ('restricted', 'revoked')";

/** The payment provider a workspace has connected; no row while it has none. */
export const PaymentConnection = defineEntity({
  name: "PaymentConnection",
  tableName: "payment_connection",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    provider: p.text().$type<PaymentProviderName>(),
    connectedAt: p.datetime(3),
    state: p.text().$type<ConnectionState>().default("ready"),
    /** The account at the provider; null where there is none. */
    account: p.text().nullable(),
    /** Whether it is the provider's live mode, not its test mode of twins; null where there is no account. */
    live: p.boolean().nullable(),
    /** A key of the account, sealed; null where the platform acts for the account by its own. */
    ownKey: p.text().nullable(),
    /** What notices to the workspace itself are signed with, by commas, sealed; along with a key. */
    noticeSecrets: p.text().nullable(),
    /** What the provider still has to know, in its own names. */
    missing: p.json().$type<readonly string[]>().defaultRaw("'[]'"),
    /** Whether the account took the place of `manual`, which is connected again once the account is not. */
    replacedManual: p.boolean().default(false),
    /** When the account was last read; null where there is none. */
    checkedAt: p.datetime(3).nullable(),
    /** When to read it next, or until when it is leased for that; null where there is none. */
    checkAt: p.datetime(3).nullable(),
    /** Provider events until then are known; null to read all that are still listed. */
    heardUntil: p.datetime(3).nullable(),
  },
  indexes: [
    // Of all workspaces, for notices to the platform, and to read accounts again.
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
