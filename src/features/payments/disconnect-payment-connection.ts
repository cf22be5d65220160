import {
  PaymentConnectionService,
  type DisconnectPaymentConnectionRequest,
  type DisconnectPaymentConnectionResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { TEST } from "./manual.ts";
import { changeConnection, type ConnectionDeps } from "./payment-connections.ts";

/** A test twin is always connected: without an account, to what moves no money. */
const NO_ACCOUNT: Omit<PaymentConnection, "workspace" | "connectedAt"> = {
  provider: TEST.name,
  state: "ready",
  account: null,
  live: null,
  ownKey: null,
  noticeSecrets: null,
  missing: [],
  checkedAt: null,
  checkAt: null,
  heardUntil: null,
};

/**
 * Disconnects the payment provider of the workspace, if it has one; a test twin has the provider `test` again.
 * The account stays at the provider.
 *
 * @throws Refusal PAYMENTS_OPEN
 */
export async function disconnectPaymentConnection(
  request: DisconnectPaymentConnectionRequest,
  call: Call,
  { em, now }: ConnectionDeps,
): Promise<DisconnectPaymentConnectionResponse> {
  const method = PaymentConnectionService.method.disconnectPaymentConnection;
  return withIdempotency(em, method, request, call, async (tx) => {
    await changeConnection(tx, call, async (before) => {
      if (!call.caller.test) return null;
      return before?.account ? { ...NO_ACCOUNT, connectedAt: now() } : before;
    });
    return {};
  });
}
