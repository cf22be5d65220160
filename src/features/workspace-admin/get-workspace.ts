import { create } from "@bufbuild/protobuf";
import {
  GetWorkspaceResponseSchema,
  type GetWorkspaceRequestValid,
  type GetWorkspaceResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { findWorkspace, loadAdminWorkspace } from "./admin-workspaces.ts";

/**
 * Gives one workspace.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function getWorkspace(
  request: GetWorkspaceRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetWorkspaceResponse> {
  const reading = em.fork();
  const workspace = await findWorkspace(reading, request.workspace);
  const data = await loadAdminWorkspace(reading, workspace);
  return create(GetWorkspaceResponseSchema, { data });
}
