import { create } from "@bufbuild/protobuf";
import {
  PaymentConnectionSchema,
  PaymentConnectionState,
  type PaymentConnection as PaymentConnectionMessage,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { invalidField, refuse, unavailable } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import { PROVIDER_LIMITS, type RateLimit, type Verdict } from "../../domain/rate-limit.ts";
import { compileToMessage } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { assertNoOpenPayments } from "../workspaces/open-payments.ts";
import { lockWorkspace } from "../workspaces/workspace.entity.ts";
import { type AccountAccess, ProviderRefused, ProviderUnavailable } from "./payment-provider.ts";
import type { PaymentProviders } from "./payment-providers.ts";
import { resumePolling } from "./provider-payments.ts";

/** Consumes one call from the named rate limit. */
export type ConsumeCall = (name: string, limit: RateLimit) => Verdict | Promise<Verdict>;

export interface ConnectionDeps {
  readonly em: EntityManager;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
  readonly now: () => Date;
  readonly consumeCall: ConsumeCall;
}

const toMessage = compileToMessage(PaymentConnectionSchema);

export function connectionMessage(connection: PaymentConnection | null): PaymentConnectionMessage {
  if (connection === null) {
    return create(PaymentConnectionSchema, { state: PaymentConnectionState.NONE });
  }
  return toMessage({ ...connection, ownKey: Boolean(connection.ownKey) });
}

export function findConnection(em: EntityManager, workspace: number): Promise<PaymentConnection | null> {
  return em.findOne(PaymentConnection, { workspace }, { refresh: true });
}

/**
 * Changes the connection of the caller's workspace while holding the workspace lock, and records the differences in the
 * audit log.
 *
 * @param change returns the new columns, or null to disconnect
 * @throws Refusal PAYMENTS_OPEN if a replaced account has open payments
 */
export async function changeConnection(
  tx: EntityManager,
  call: Call,
  change: (connection: PaymentConnection | null) => Promise<Omit<PaymentConnection, "workspace"> | null>,
): Promise<PaymentConnection | null> {
  const { workspaceId: workspace } = call.caller;
  await lockWorkspace(tx, workspace);
  const before = await findConnection(tx, workspace);
  const recordedBefore = recordedOf(before);
  const row = await change(before);
  if (row === null) await tx.nativeDelete(PaymentConnection, { workspace });
  else if (before === null) await tx.insert(PaymentConnection, { workspace, ...row });
  else {
    // Distributed databases reject updates of the distribution column, even to the same value.
    const { workspace: _, ...columns } = { workspace, ...row };
    await tx.nativeUpdate(PaymentConnection, { workspace }, columns);
  }
  if (before?.account !== row?.account) await assertNoOpenPayments(tx, before);
  if (row?.account && row.state !== "revoked") {
    await resumePolling(tx, { ...row, workspace }, row.checkedAt!);
  }
  const changes = changesBetween(recordedBefore, recordedOf(row));
  if (changes.length > 0) {
    recordChange(tx, call, {
      subject: `workspace/${workspace}`,
      workspaceId: workspace,
      changes,
    });
  }
  return row === null ? null : findConnection(tx, workspace);
}

/** Returns the properties of a connection for the audit log, without keys. */
function recordedOf(connection: Omit<PaymentConnection, "workspace"> | null) {
  if (connection === null) return {};
  return {
    payment_provider: connection.provider,
    "payment_provider.account": connection.account,
    "payment_provider.state": connection.state,
    "payment_provider.own_key": connection.ownKey ? "true" : null,
  };
}

/** Returns the context that binds a sealed secret to its workspace and column. */
export function sealContext(workspace: number, column: "own_key" | "notice_secrets"): string {
  return `payment_connection ${workspace} ${column}`;
}

/** Columns that determine access to a connection's account. */
export type StoredAccess = Pick<PaymentConnection, "workspace" | "account" | "live" | "ownKey">;

/**
 * Returns the access to a connection's account.
 *
 * @throws Refusal PAYMENT_PROVIDER_NOT_CONFIGURED if the account's key cannot be decrypted
 */
export function accountAccess({ workspace, account, live, ownKey }: StoredAccess, seal: SecretSeal): AccountAccess {
  const access = { mode: live ? "live" : "test", account: account! } as const;
  if (!ownKey) return { ...access, ownKey: undefined };
  const opened = seal.open(ownKey, sealContext(workspace, "own_key"));
  if (opened === undefined) {
    throw notConfigured("No key in SECRETS_KEYS decrypts the workspace's account key.");
  }
  return { ...access, ownKey: opened };
}

export function notConfigured(text: string) {
  return refuse("PAYMENT_PROVIDER_NOT_CONFIGURED", text, { subject: "payment_provider" });
}

const TOO_MANY: Readonly<Record<keyof typeof PROVIDER_LIMITS, string>> = {
  account: "Too many checks of the workspace's payment account",
  payments: "Too many checks of the workspace's payments",
  events: "Too many payment events for the workspace",
};

/**
 * Consumes one call from a workspace's rate limit for payment providers.
 *
 * @throws Refusal RATE_LIMITED if the limit is reached
 */
export async function assertProviderLimit(
  consumeCall: ConsumeCall,
  of: keyof typeof PROVIDER_LIMITS,
  workspace: number,
): Promise<void> {
  const verdict = await consumeCall(`provider ${of} of ${workspace}`, PROVIDER_LIMITS[of]);
  if (verdict.allowed) return;
  const text = `${TOO_MANY[of]}. Try again in a moment.`;
  throw refuse("RATE_LIMITED", text, { retryAfterSeconds: verdict.resetSeconds });
}

/**
 * Runs a provider call and translates its errors for the caller.
 *
 * @throws Refusal PAYMENT_PROVIDER_REFUSED, UNAVAILABLE
 */
export async function callProvider<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ProviderRefused) throw providerRefused(error);
    if (error instanceof ProviderUnavailable) throw providerUnavailable(error);
    throw error;
  }
}

/**
 * Runs a provider call about the account of the caller's workspace.
 *
 * @throws Refusal RATE_LIMITED, PAYMENT_PROVIDER_REFUSED, UNAVAILABLE
 */
export async function callForAccount<T>(
  { consumeCall }: Pick<ConnectionDeps, "consumeCall">,
  { caller }: Call,
  run: () => Promise<T>,
): Promise<T> {
  await assertProviderLimit(consumeCall, "account", caller.workspaceId);
  return callProvider(run);
}

function providerRefused({ message }: ProviderRefused) {
  const text = `The payment provider refused the request: ${message}`;
  return refuse("PAYMENT_PROVIDER_REFUSED", text, { subject: "payment_provider" });
}

export function providerUnavailable(cause: unknown) {
  const text = "The payment provider does not respond. Try again in a moment.";
  return unavailable(text, cause, { facts: { waits_for: "payment_provider" } });
}

/**
 * Returns a normalized URL to which a provider redirects users.
 *
 * @throws Refusal FIELD_INVALID unless the URL uses https, or http on localhost
 */
export function parseRedirectUrl(named: string, field: string): string {
  const url = URL.canParse(named) ? new URL(named) : undefined;
  const isLocal = url?.protocol === "http:" && /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url !== undefined && (url.protocol === "https:" || isLocal)) return url.href;
  throw invalidField(field, "must be a URL such as https://example.org/done.");
}
