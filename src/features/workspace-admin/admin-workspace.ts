import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AdminWorkspaceSchema,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { DEFAULT_LIMITS } from "../../domain/rate-limit.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { WorkspaceLimit } from "../workspaces/workspace-limit.entity.ts";
import type { Workspace } from "../workspaces/workspace.entity.ts";

/** Workspaces as operators see them, with their payment providers and limits, in the given order. */
export async function readAdminWorkspaces(
  em: EntityManager,
  workspaces: readonly Workspace[],
): Promise<AdminWorkspace[]> {
  const of = { workspace: { $in: workspaces.map(({ id }) => id) } };
  const connections = await em.find(PaymentConnection, of, { refresh: true });
  const limits = await em.find(WorkspaceLimit, of, { refresh: true });
  const providerOf = new Map(connections.map((it) => [it.workspace, it.provider]));
  const limitsOf = Map.groupBy(limits, (it) => it.workspace);
  return workspaces.map((workspace) => {
    const { id, name, createdAt, suspendedAt } = workspace;
    const own = (limitsOf.get(id) ?? []).map(
      ({ limitClass, rate, burst }) => [limitClass, { rate, burst }] as const,
    );
    return create(AdminWorkspaceSchema, {
      id: BigInt(id),
      name,
      paymentProvider: providerOf.get(id),
      suspendedAt: suspendedAt ? timestampFromDate(suspendedAt) : undefined,
      createdAt: timestampFromDate(createdAt),
      limits: { ...DEFAULT_LIMITS, ...Object.fromEntries(own) },
    });
  });
}

/** A workspace as operators see it. */
export async function readAdminWorkspace(
  em: EntityManager,
  workspace: Workspace,
): Promise<AdminWorkspace> {
  const [read] = await readAdminWorkspaces(em, [workspace]);
  return read!;
}
