import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PaymentConnectionService,
  type BeginPaymentConnectionRequestValid,
  type BeginPaymentConnectionResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { connectAccount } from "./connect-account.ts";
import {
  askAboutAccount,
  assertPlatform,
  type ConnectionDeps,
  connectionMessage,
  modeOf,
  returnAddress,
} from "./payment-connections.ts";
import type { Mode } from "../../domain/mode.ts";
import {
  type AccountAtProvider,
  type OnlinePayments,
  ProviderRefused,
} from "./payment-provider.ts";
import { onlineProvider } from "./payment-providers.ts";

/**
 * Makes an account at a provider for the workspace, unless it has one there, and gives a link to tell
 * the provider about it.
 *
 * @throws Refusal FIELD_INVALID for the addresses, PAYMENT_PROVIDER_NOT_CONFIGURED,
 * PAYMENT_PROVIDER_REFUSED, PAYMENTS_OPEN, UNAVAILABLE
 */
export async function beginPaymentConnection(
  request: BeginPaymentConnectionRequestValid,
  call: Call,
  { em, providers, now, takeCall }: ConnectionDeps,
): Promise<BeginPaymentConnectionResponse> {
  const mode = modeOf(call);
  const provider = request.paymentProvider as PaymentConnection["provider"];
  const online = onlineProvider(providers, provider);
  assertPlatform(online.platformFault(mode));
  const urls = {
    returnUrl: returnAddress(request.returnUrl, "return_url"),
    refreshUrl: returnAddress(request.refreshUrl, "refresh_url"),
  };
  const { workspaceId } = call.caller;
  const workspace = await em.fork().findOneOrFail(Workspace, workspaceId);
  const { account, link } = await askAboutAccount({ takeCall }, call, async () => {
    const found = await readOrCreate(em, online, mode, workspace);
    const access = { mode, account: found.account, ownKey: undefined };
    return { account: found, link: await online.createOnboardingLink(access, urls) };
  });
  const method = PaymentConnectionService.method.beginPaymentConnection;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const columns = { provider, ownKey: null, noticeSecrets: null };
    const data = await connectAccount(tx, call, account, columns, now());
    await tx.nativeUpdate(Workspace, { id: workspaceId }, { providerAccount: account.account });
    return {
      data: connectionMessage(data),
      onboardingUrl: link.url,
      onboardingExpiresAt: timestampFromDate(link.expiresAt),
    };
  });
}

/**
 * The account that the platform made for the workspace, disconnected or not, if it may still act for it;
 * else a new one.
 */
async function readOrCreate(
  em: EntityManager,
  online: OnlinePayments,
  mode: Mode,
  { id, providerAccount: made, accountAttempt }: Workspace,
): Promise<AccountAtProvider> {
  if (made) {
    const found = await online.readAccount({ mode, account: made, ownKey: undefined });
    if (found.state !== "revoked") return found;
  }
  const tryAs = async (attempt: number): Promise<AccountAtProvider> => {
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

/** The provider gives what has failed again under its key, for a day; what may have been done keeps its key. */
const COUNT_ATTEMPT = `
  update workspace set account_attempt = account_attempt + 1
  where id = $1 and account_attempt = $2`;
