import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateWorkspaceRequest,
  UpdateWorkspaceResponseSchema,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { loadWorkspace, type WorkspaceDeps } from "../workspaces/get-workspace.ts";
import { lockWorkspace, parseTimeZone } from "../workspaces/workspace.entity.ts";

export async function updateWorkspace(
  request: UpdateWorkspaceRequest,
  call: Call,
  { em, ...deps }: WorkspaceDeps,
): Promise<MessageInitShape<typeof UpdateWorkspaceResponseSchema>> {
  const { workspaceId } = call.caller;
  const given = request.timeZone === undefined ? undefined : parseTimeZone(request.timeZone);
  const workspace = (await lockWorkspace(em, workspaceId))!;
  const before = { time_zone: workspace.timeZone };
  workspace.timeZone = given ?? workspace.timeZone;
  await em.flush();
  const changes = changesBetween(before, { time_zone: workspace.timeZone });
  if (changes.length > 0) {
    recordChange(em, call, { subject: `workspace/${workspaceId}`, workspaceId, changes });
  }
  return { data: await loadWorkspace(em, call, deps) };
}
