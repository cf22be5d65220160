import { create } from "@bufbuild/protobuf";
import {
  ListWorkspaceApiKeysResponseSchema,
  type ListWorkspaceApiKeysRequestValid,
  type ListWorkspaceApiKeysResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { apiKeyMessage } from "../api-keys/api-key-message.ts";
import { findWorkingKeys } from "../api-keys/working-keys.ts";
import { findWorkspace } from "./find-workspace.ts";

/**
 * Lists the keys of a workspace that work, the oldest first.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function listWorkspaceApiKeys(
  request: ListWorkspaceApiKeysRequestValid,
  em: EntityManager,
): Promise<ListWorkspaceApiKeysResponse> {
  const reading = em.fork();
  const { id } = await findWorkspace(reading, request.workspace);
  const keys = await findWorkingKeys(reading, id);
  return create(ListWorkspaceApiKeysResponseSchema, {
    data: keys.map((key) => apiKeyMessage(key)),
  });
}
