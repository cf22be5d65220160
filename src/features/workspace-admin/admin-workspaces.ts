import { create, type DescMethodUnary, type Message, type MessageShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AdminWorkspace } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Workspace } from "../workspaces/workspace.entity.ts";
import { readAdminWorkspace } from "./admin-workspace.ts";
import { findWorkspace } from "./find-workspace.ts";

/**
 * Changes one workspace, with its row locked, and records what differs afterwards; nothing is
 * recorded when nothing does.
 *
 * @param method one that answers `{ data: AdminWorkspace }`
 * @param change flushes what it changes
 * @returns the answer of the method, with the workspace as it is then
 * @throws Refusal WORKSPACE_NOT_FOUND, and whatever `change` throws
 */
export function changeWorkspace<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  request: MessageShape<M["input"]> & { readonly workspace: bigint },
  call: OperatorCall,
  change: (tx: EntityManager, workspace: Workspace) => Promise<void>,
): Promise<MessageShape<M["output"]>> {
  return withIdempotency(em, method, request, call, async (tx) => {
    const workspace = await findWorkspace(tx, request.workspace, "lock");
    const before = recordedOf(await readAdminWorkspace(tx, workspace));
    await change(tx, workspace);
    const data = await readAdminWorkspace(tx, workspace);
    const changes = changesBetween(before, recordedOf(data));
    if (changes.length > 0) {
      const { id } = workspace;
      recordChange(tx, call, { subject: `workspace/${id}`, workspaceId: id, changes });
    }
    const response: Message = Object.assign(create(method.output), { data });
    return response as MessageShape<M["output"]>;
  });
}

/** The properties of a workspace that can change, by their names in the audit log. */
export function recordedOf({ name, paymentProvider, suspendedAt, limits }: AdminWorkspace) {
  return {
    name,
    payment_provider: paymentProvider,
    suspended_at: suspendedAt && timestampDate(suspendedAt),
    "limits.quote": limitText(limits?.quote),
    "limits.read": limitText(limits?.read),
    "limits.write": limitText(limits?.write),
  };
}

function limitText(limit: { readonly rate: number; readonly burst: number } | undefined) {
  return limit && `${limit.rate} a second, ${limit.burst} at once`;
}
