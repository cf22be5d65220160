import { create } from "@bufbuild/protobuf";
import {
  UpdateWorkspaceApiKeyResponseSchema,
  WorkspaceAdminService,
  type UpdateWorkspaceApiKeyRequestValid,
  type UpdateWorkspaceApiKeyResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { apiKeyMessage } from "../api-keys/api-key-message.ts";
import { changeKey } from "../api-keys/change-key.ts";
import { findWorkingKeys, pickKey } from "../api-keys/working-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./find-workspace.ts";

/**
 * Changes the name and the scope of a key of a workspace, as far as given.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_NOT_FOUND
 */
export async function updateWorkspaceApiKey(
  request: UpdateWorkspaceApiKeyRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<UpdateWorkspaceApiKeyResponse> {
  const method = WorkspaceAdminService.method.updateWorkspaceApiKey;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findWorkspace(tx, request.workspace, "lock");
    const key = pickKey(await findWorkingKeys(tx, id), request.key);
    const data = apiKeyMessage(await changeKey(tx, call, key, request));
    return create(UpdateWorkspaceApiKeyResponseSchema, { data });
  });
}
