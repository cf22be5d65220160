import { sql } from "@mikro-orm/postgresql";
import {
  WorkspaceAdminService,
  type ConnectPaymentProviderRequestValid,
  type ConnectPaymentProviderResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import {
  PaymentConnection,
  type PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";
import { assertNoneOpen } from "../workspaces/open-payments.ts";
import { assertLive, changeWorkspace } from "./admin-workspaces.ts";

/**
 * Connects a payment provider to a workspace, in the place of the one it has.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST, PAYMENTS_OPEN
 */
export async function connectPaymentProvider(
  request: ConnectPaymentProviderRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<ConnectPaymentProviderResponse> {
  const method = WorkspaceAdminService.method.connectPaymentProvider;
  // One of the names that the request's rule lists.
  const provider = request.paymentProvider as PaymentProviderName;
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    const connection = await tx.findOne(PaymentConnection, { workspace: workspace.id });
    if (connection?.provider === provider) return;
    const row = { workspace: workspace.id, provider, connectedAt: sql`now()` };
    // In the place of the other with all that was known of its account.
    await tx.nativeDelete(PaymentConnection, { workspace: workspace.id });
    await tx.insert(PaymentConnection, row);
    await assertNoneOpen(tx, connection);
  });
}
