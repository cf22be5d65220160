import type { AdminWorkspace } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { Badge } from "../ui/badge.tsx";

/** Whether the calls of a workspace are taken. */
export function WorkspaceBadge({ workspace }: { readonly workspace: AdminWorkspace }) {
  return workspace.suspendedAt === undefined ? (
    <Badge tone="good">Active</Badge>
  ) : (
    <Badge tone="bad">Suspended</Badge>
  );
}
