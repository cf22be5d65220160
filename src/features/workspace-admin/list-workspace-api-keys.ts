import { create } from "@bufbuild/protobuf";
import {
  ListWorkspaceApiKeysResponseSchema,
  type ListWorkspaceApiKeysRequestValid,
  type ListWorkspaceApiKeysResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { listKeys } from "../api-keys/api-keys.ts";
import { findWorkspace } from "./admin-workspaces.ts";

/**
 * Lists the keys of a workspace that work, the oldest first.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function listWorkspaceApiKeys(
  request: ListWorkspaceApiKeysRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<ListWorkspaceApiKeysResponse> {
  const { id } = await findWorkspace(em.fork(), request.workspace);
  return create(ListWorkspaceApiKeysResponseSchema, await listKeys(em, id));
}
