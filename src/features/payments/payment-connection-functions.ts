import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Mode } from "../../domain/mode.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { aroundTransaction, type ServiceFunctions } from "../../pipeline/rpc.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { nextCheck } from "./check-accounts.ts";
import {
  accountAccess,
  callForAccount,
  changeConnection,
  type ConnectionDeps,
  connectionMessage,
  findConnection,
  notConfigured,
  parseRedirectUrl,
  sealContext,
} from "./payment-connections.ts";
import { type AccountSnapshot, type OnlinePayments, ProviderRefused } from "./payment-provider.ts";
import { MANUAL, onlineProvider, TEST } from "./payment-providers.ts";

/** Methods of PaymentConnectionService. Providers are called outside transactions. */
export const PAYMENT_CONNECTION_FUNCTIONS: ServiceFunctions<typeof PaymentConnectionService, Call, ConnectionDeps> = {
  async getPaymentConnection(_request, { caller }, { em }) {
    return { data: connectionMessage(await findConnection(em.fork(), caller.workspaceId)) };
  },

  beginPaymentConnection: aroundTransaction(async (request, call, deps, transact) => {
    const { em, providers, now } = deps;
    const mode = modeOf(call);
    const provider = request.paymentProvider as PaymentConnection["provider"];
    const online = onlineProvider(providers, provider);
    const fault = online.platformFault(mode);
    if (fault !== undefined) throw notConfigured(fault);
    const urls = {
      returnUrl: parseRedirectUrl(request.returnUrl, "return_url"),
      refreshUrl: parseRedirectUrl(request.refreshUrl, "refresh_url"),
    };
    const workspace = await em.fork().findOneOrFail(Workspace, call.caller.workspaceId);
    const { account, link } = await callForAccount(deps, call, async () => {
      const found = await readOrCreate(em, online, mode, workspace);
      const access = { mode, account: found.account, ownKey: undefined };
      return { account: found, link: await online.createOnboardingLink(access, urls) };
    });
    return transact(async ({ em: tx }) => {
      const columns = { provider, ownKey: null, webhookSecrets: null };
      const data = await connectAccount(tx, call, account, columns, now());
      const { id } = workspace;
      await tx.nativeUpdate(Workspace, { id }, { providerAccount: account.account });
      return {
        data: connectionMessage(data),
        onboardingUrl: link.url,
        onboardingExpiresAt: timestampFromDate(link.expiresAt),
      };
    });
  }),

  setPaymentKey: aroundTransaction(async (request, call, deps, transact) => {
    const { providers, secretSeal, now } = deps;
    const mode = modeOf(call);
    const provider = request.paymentProvider as PaymentConnection["provider"];
    const online = onlineProvider(providers, provider);
    const { restrictedKey: ownKey, webhookSecret } = request;
    const fault = online.keyFault(ownKey, mode);
    if (fault !== undefined) {
      throw invalidField("restricted_key", fault);
    }
    if (secretSeal.keyId === undefined) {
      throw notConfigured("The platform cannot store account keys because SECRETS_KEYS is not set.");
    }
    const account = await callForAccount(deps, call, () => online.readAccount({ mode, ownKey }));
    return transact(async ({ em: tx }) => {
      const { workspaceId } = call.caller;
      const columns = {
        provider,
        ownKey: secretSeal.seal(ownKey, sealContext(workspaceId, "own_key")),
        webhookSecrets: secretSeal.seal(webhookSecret, sealContext(workspaceId, "notice_secrets")),
      };
      return { data: connectionMessage(await connectAccount(tx, call, account, columns, now())) };
    });
  }),

  /** Reads the account again from the provider. Providers without accounts are not called. */
  checkPaymentConnection: aroundTransaction(async (_request, call, deps, transact) => {
    const { em, providers, secretSeal, now } = deps;
    const connection = await findConnection(em.fork(), call.caller.workspaceId);
    if (connection === null) throw refuse("PAYMENT_PROVIDER_NOT_CONNECTED");
    const { online } = providers[connection.provider];
    const access = online && accountAccess(connection, secretSeal);
    const account = online && (await callForAccount(deps, call, () => online.readAccount(access!)));
    return transact(async ({ em: tx }) => {
      const data = await changeConnection(tx, call, async (before) => {
        // The account may have been replaced or disconnected since it was read.
        if (account === undefined || before?.account !== account.account) return before;
        return { ...before, ...accountColumns(account, now()) };
      });
      if (data === null) throw refuse("PAYMENT_PROVIDER_NOT_CONNECTED");
      return { data: connectionMessage(data) };
    });
  }),

  /**
   * Disconnects the account but does not delete it at the provider. The workspace returns to manual payments if an
   * operator had connected them before. A test twin returns to `test`.
   */
  async disconnectPaymentConnection(_request, call, { em, now }) {
    await changeConnection(em, call, async (before) => {
      if (before?.provider === MANUAL.name) {
        throw refuse("ROLE_INSUFFICIENT", "Only operators can disconnect manual payments.");
      }
      if (!before?.account) return before;
      const { name: provider } = call.caller.test ? TEST : MANUAL;
      if (provider === MANUAL.name && !before.replacedManual) return null;
      return { ...NO_ACCOUNT, provider, connectedAt: now() };
    });
    return {};
  },
};

const NO_ACCOUNT: Omit<PaymentConnection, "workspace" | "provider" | "connectedAt"> = {
  state: "ready",
  account: null,
  live: null,
  ownKey: null,
  webhookSecrets: null,
  missing: [],
  replacedManual: false,
  checkedAt: null,
  checkAt: null,
  eventsReadUntil: null,
};

function modeOf({ caller: { test } }: Call): Mode {
  return test ? "test" : "live";
}

/**
 * Returns the account that the platform created for the workspace, even if it is disconnected. Creates an account if
 * there is none or it is inaccessible.
 */
async function readOrCreate(
  em: EntityManager,
  online: OnlinePayments,
  mode: Mode,
  { id, providerAccount: made, accountAttempt }: Workspace,
): Promise<AccountSnapshot> {
  if (made) {
    const found = await online.readAccount({ mode, account: made, ownKey: undefined });
    if (found.state !== "revoked") return found;
  }
  const tryAs = async (attempt: number): Promise<AccountSnapshot> => {
    try {
      return await online.createAccount(mode, id, `${id}-${made ?? "first"}-${attempt}-connect`);
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error;
      await runStatement(em, COUNT_ATTEMPT, [id, attempt]);
      if (error.kind !== "failed" || attempt > accountAttempt) throw error;
      return tryAs(attempt + 1);
    }
  };
  return tryAs(accountAttempt);
}

/**
 * Counts a failed attempt, which changes the idempotency key: with the same key the provider repeats the failure for a
 * day. After an unknown result, the key stays the same.
 */
const COUNT_ATTEMPT = `
  update workspace set account_attempt = account_attempt + 1
  where id = $1 and account_attempt = $2`;

/**
 * Connects an account, replacing the current connection.
 *
 * @param columns columns that depend on the kind of connection
 * @throws Refusal PAYMENTS_OPEN if the replaced account has open payments
 */
async function connectAccount(
  tx: EntityManager,
  call: Call,
  read: AccountSnapshot,
  columns: Pick<PaymentConnection, "provider" | "ownKey" | "webhookSecrets">,
  now: Date,
): Promise<PaymentConnection> {
  const connection = await changeConnection(tx, call, async (before) => {
    const isSame = before?.account === read.account;
    const { connectedAt, eventsReadUntil } = isSame ? before : { connectedAt: now, eventsReadUntil: null };
    const stored = {
      live: modeOf(call) === "live",
      replacedManual: before?.provider === MANUAL.name || before?.replacedManual === true,
      connectedAt,
      eventsReadUntil,
    };
    return { ...columns, ...stored, ...accountColumns(read, now) };
  });
  return connection!;
}

function accountColumns({ account, state, missing }: AccountSnapshot, checkedAt: Date) {
  return { account, state, missing, checkedAt, checkAt: nextCheck(state, checkedAt) };
}
