import {
  WorkspaceService,
  type UpdateWorkspaceRequestValid,
  type UpdateWorkspaceResponse,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";

import { loadWorkspace, type WorkspaceDeps } from "../workspaces/get-workspace.ts";
import { lockWorkspace, parseTimeZone } from "../workspaces/workspace.entity.ts";

/**
 * Changes what is given of the caller's own workspace.
 *
 * @throws Refusal FIELD_INVALID for a time zone that is none
 */
export async function updateWorkspace(
  request: UpdateWorkspaceRequestValid,
  call: Call,
  { em, ...deps }: WorkspaceDeps,
): Promise<UpdateWorkspaceResponse> {
  const { workspaceId } = call.caller;
  const given = request.timeZone === undefined ? undefined : parseTimeZone(request.timeZone);
  const method = WorkspaceService.method.updateWorkspace;
  return withIdempotency(em, method, request, call, async (tx) => {
    const workspace = (await lockWorkspace(tx, workspaceId))!;
    const before = { time_zone: workspace.timeZone };
    workspace.timeZone = given ?? workspace.timeZone;
    await tx.flush();
    const changes = changesBetween(before, { time_zone: workspace.timeZone });
    if (changes.length > 0) {
      recordChange(tx, call, { subject: `workspace/${workspaceId}`, workspaceId, changes });
    }
    return { data: await loadWorkspace(tx, call, deps) };
  });
}
