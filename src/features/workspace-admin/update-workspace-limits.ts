import {
  WorkspaceAdminService,
  type UpdateWorkspaceLimitsRequestValid,
  type UpdateWorkspaceLimitsResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { LIMIT_CLASSES } from "../../domain/rate-limit.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { WorkspaceLimit } from "../workspaces/workspace-limit.entity.ts";
import { changeWorkspace } from "./admin-workspaces.ts";

/** The largest burst, in calls. */
const MAX_BURST = 1_000_000;

/**
 * Sets the rate limits of a workspace that are given and leaves the rest. Every process uses them
 * within a second.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function updateWorkspaceLimits(
  request: UpdateWorkspaceLimitsRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<UpdateWorkspaceLimitsResponse> {
  const method = WorkspaceAdminService.method.updateWorkspaceLimits;
  const limits = LIMIT_CLASSES.flatMap((limitClass) => {
    const given = request[limitClass];
    if (given === undefined) return [];
    const { rate, burst = Math.min(rate * 2, MAX_BURST) } = given;
    return [{ limitClass, rate, burst }];
  });
  return changeWorkspace(em, method, request, call, async (tx, { id: workspace }) => {
    if (limits.length === 0) return;
    for (const limit of limits) await tx.upsert(WorkspaceLimit, { workspace, ...limit });
    // Limits are cached with the keys of the workspace.
    await evictKeys(tx, "api_key", workspace);
  });
}
