import {
  PaymentConnectionService,
  type SetPaymentKeyRequestValid,
  type SetPaymentKeyResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { connectAccount } from "./connect-account.ts";
import {
  askAboutAccount,
  type ConnectionDeps,
  connectionMessage,
  modeOf,
  notConfigured,
  sealedPlace,
} from "./payment-connections.ts";
import { onlineProvider } from "./payment-providers.ts";

/**
 * Connects the account of a key that the workspace has at a provider, or replaces the key. It is kept
 * sealed, or not at all.
 *
 * @throws Refusal FIELD_INVALID for a key of the other mode, PAYMENT_PROVIDER_NOT_CONFIGURED,
 * PAYMENT_PROVIDER_REFUSED (also for a key that is none), PAYMENTS_OPEN, UNAVAILABLE
 */
export async function setPaymentKey(
  request: SetPaymentKeyRequestValid,
  call: Call,
  { em, providers, secretSeal, now, takeCall }: ConnectionDeps,
): Promise<SetPaymentKeyResponse> {
  const mode = modeOf(call);
  const provider = request.paymentProvider as PaymentConnection["provider"];
  const online = onlineProvider(providers, provider);
  const { restrictedKey: ownKey, webhookSecret } = request;
  const fault = online.keyFault(ownKey, mode);
  if (fault !== undefined) {
    throw refuse("FIELD_INVALID", `restricted_key ${fault}`, { subject: "restricted_key" });
  }
  if (secretSeal.keyId === undefined) {
    throw notConfigured("The platform keeps no keys of accounts, since SECRETS_KEYS is not set.");
  }
  const account = await askAboutAccount({ takeCall }, call, () =>
    online.readAccount({ mode, ownKey }),
  );
  const { workspaceId: workspace } = call.caller;
  const method = PaymentConnectionService.method.setPaymentKey;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const columns = {
      provider,
      ownKey: secretSeal.seal(ownKey, sealedPlace(workspace, "own_key")),
      noticeSecrets: secretSeal.seal(webhookSecret, sealedPlace(workspace, "notice_secrets")),
    };
    const data = await connectAccount(tx, call, account, columns, now());
    return { data: connectionMessage(data) };
  });
}
