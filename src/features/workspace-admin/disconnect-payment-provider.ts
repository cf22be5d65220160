import {
  WorkspaceAdminService,
  type DisconnectPaymentProviderRequestValid,
  type DisconnectPaymentProviderResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { assertNoneOpen } from "../workspaces/open-payments.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { assertLive, changeWorkspace } from "./admin-workspaces.ts";

/**
 * Disconnects the payment provider of a workspace, if it has one.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, WORKSPACE_IS_TEST, PAYMENTS_OPEN
 */
export async function disconnectPaymentProvider(
  request: DisconnectPaymentProviderRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<DisconnectPaymentProviderResponse> {
  const method = WorkspaceAdminService.method.disconnectPaymentProvider;
  return changeWorkspace(em, method, request, call, async (tx, workspace) => {
    assertLive(workspace);
    const connection = await tx.findOne(PaymentConnection, { workspace: workspace.id });
    await tx.nativeDelete(PaymentConnection, { workspace: workspace.id });
    await assertNoneOpen(tx, connection);
  });
}
