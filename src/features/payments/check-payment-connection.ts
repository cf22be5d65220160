import {
  PaymentConnectionService,
  type CheckPaymentConnectionRequest,
  type CheckPaymentConnectionResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { accountColumns } from "./connect-account.ts";
import {
  accessOf,
  askAboutAccount,
  changeConnection,
  type ConnectionDeps,
  connectionMessage,
  findConnection,
} from "./payment-connections.ts";

/**
 * Reads the account of the workspace's connection anew. A provider without accounts is as it was.
 *
 * @throws Refusal PAYMENT_PROVIDER_NOT_CONNECTED, PAYMENT_PROVIDER_NOT_CONFIGURED,
 * PAYMENT_PROVIDER_REFUSED, UNAVAILABLE
 */
export async function checkPaymentConnection(
  request: CheckPaymentConnectionRequest,
  call: Call,
  { em, providers, secretSeal, now, takeCall }: ConnectionDeps,
): Promise<CheckPaymentConnectionResponse> {
  const connection = await findConnection(em.fork(), call.caller.workspaceId);
  if (connection === null) throw refuse("PAYMENT_PROVIDER_NOT_CONNECTED");
  const { online } = providers[connection.provider];
  const access = online && accessOf(connection, secretSeal);
  const account =
    online && (await askAboutAccount({ takeCall }, call, () => online.readAccount(access!)));
  const method = PaymentConnectionService.method.checkPaymentConnection;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const data = await changeConnection(tx, call, async (before) => {
      // Another account, or none, may have taken its place meanwhile.
      if (account === undefined || before?.account !== account.account) return before;
      return { ...before, ...accountColumns(account, now()) };
    });
    if (data === null) throw refuse("PAYMENT_PROVIDER_NOT_CONNECTED");
    return { data: connectionMessage(data) };
  });
}
