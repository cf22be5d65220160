import {
  PaymentConnectionService,
  type DisconnectPaymentConnectionRequest,
  type DisconnectPaymentConnectionResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { MANUAL, TEST } from "./manual.ts";
import { changeConnection, type ConnectionDeps } from "./payment-connections.ts";

const NO_ACCOUNT: Omit<PaymentConnection, "workspace" | "provider" | "connectedAt"> = {
  state: "ready",
  account: null,
  live: null,
  ownKey: null,
  noticeSecrets: null,
  missing: [],
  replacedManual: false,
  checkedAt: null,
  checkAt: null,
  heardUntil: null,
};

/**
 * Disconnects the account of the workspace, if it has one; it stays at the provider. The workspace has `manual`
 * again where that was connected before, and a test twin `test`, since it always has one.
 *
 * @throws Refusal PAYMENTS_OPEN, ROLE_INSUFFICIENT for `manual`
 */
export async function disconnectPaymentConnection(
  request: DisconnectPaymentConnectionRequest,
  call: Call,
  { em, now }: ConnectionDeps,
): Promise<DisconnectPaymentConnectionResponse> {
  const method = PaymentConnectionService.method.disconnectPaymentConnection;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    await changeConnection(tx, call, async (before) => {
      if (before?.provider === MANUAL.name) {
        throw refuse(
          "ROLE_INSUFFICIENT",
          "Only operators of the platform disconnect manual payments.",
        );
      }
      if (!before?.account) return before;
      const { name: provider } = call.caller.test ? TEST : MANUAL;
      if (provider === MANUAL.name && !before.replacedManual) return null;
      return { ...NO_ACCOUNT, provider, connectedAt: now() };
    });
    return {};
  });
}
