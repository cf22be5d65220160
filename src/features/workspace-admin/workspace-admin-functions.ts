import { sql } from "@mikro-orm/postgresql";
import type { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { LIMIT_CLASSES } from "../../domain/rate-limit.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { createWorkspaceKey, listKeys, revokeKey, rotateAllKeys, updateKey } from "../api-keys/api-keys.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { invitePerson, memberRoleOf, type InviteDeps } from "../people/members.ts";
import { assertNoOpenPayments } from "../workspaces/open-payments.ts";
import { PaymentConnection, type PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { WorkspaceLimit } from "../workspaces/workspace-limit.entity.ts";
import { parseTimeZone, Workspace } from "../workspaces/workspace.entity.ts";
import {
  assertLive,
  changeLiveWorkspace,
  changeWorkspace,
  evictKeysOfBoth,
  findWorkspace,
  loadAdminWorkspace,
} from "./admin-workspaces.ts";
import { createWorkspace } from "./create-workspace.ts";
import { listWorkspaces } from "./list-workspaces.ts";

/** Maximum burst of a rate limit, in calls. */
const MAX_BURST = 1_000_000;

export const WORKSPACE_ADMIN_FUNCTIONS: ServiceFunctions<typeof WorkspaceAdminService, OperatorCall, InviteDeps> = {
  createWorkspace,
  listWorkspaces,

  async getWorkspace({ workspace }, _call, { em }) {
    const reading = em.fork();
    return { data: await loadAdminWorkspace(reading, await findWorkspace(reading, workspace)) };
  },

  renameWorkspace: ({ workspace: sent, name }, call, { em }) =>
    changeLiveWorkspace(em, call, sent, (workspace) => {
      workspace.name = name;
    }),

  suspendWorkspace: ({ workspace: sent }, call, { em }) =>
    changeLiveWorkspace(em, call, sent, async (workspace) => {
      if (workspace.suspendedAt) return;
      await em.nativeUpdate(Workspace, workspace.id, { suspendedAt: sql`now()` });
      await em.refresh(workspace);
      await evictKeysOfBoth(em, workspace);
    }),

  resumeWorkspace: ({ workspace: sent }, call, { em }) =>
    changeLiveWorkspace(em, call, sent, async (workspace) => {
      if (!workspace.suspendedAt) return;
      workspace.suspendedAt = null;
      await evictKeysOfBoth(em, workspace);
    }),

  connectPaymentProvider: ({ workspace: sent, paymentProvider }, call, { em }) =>
    changeLiveWorkspace(em, call, sent, async ({ id: workspace }) => {
      // Request validation accepts known names only.
      const provider = paymentProvider as PaymentProviderName;
      const connection = await em.findOne(PaymentConnection, { workspace });
      if (connection?.provider === provider) return;
      // Replaces the old connection and its account data.
      await em.nativeDelete(PaymentConnection, { workspace });
      await em.insert(PaymentConnection, { workspace, provider, connectedAt: sql`now()` });
      await assertNoOpenPayments(em, connection);
    }),

  disconnectPaymentProvider: ({ workspace: sent }, call, { em }) =>
    changeLiveWorkspace(em, call, sent, async ({ id: workspace }) => {
      const connection = await em.findOne(PaymentConnection, { workspace });
      await em.nativeDelete(PaymentConnection, { workspace });
      await assertNoOpenPayments(em, connection);
    }),

  updateWorkspaceLimits: (request, call, { em }) =>
    changeWorkspace(em, call, request.workspace, async ({ id: workspace }) => {
      const changed = LIMIT_CLASSES.filter((limitClass) => request[limitClass] !== undefined);
      for (const limitClass of changed) {
        const { rate, burst = Math.min(rate * 2, MAX_BURST) } = request[limitClass]!;
        await em.upsert(WorkspaceLimit, { workspace, limitClass, rate, burst });
      }
      // Limits are cached with the keys of the workspace.
      if (changed.length > 0) await evictKeys(em, "api_key", workspace);
    }),

  updateWorkspaceTimeZone: (request, call, { em }) => {
    const timeZone = parseTimeZone(request.timeZone);
    return changeLiveWorkspace(em, call, request.workspace, (workspace) => {
      workspace.timeZone = timeZone;
    });
  },

  listWorkspaceApiKeys: async ({ workspace }, _call, { em }) => listKeys(em, await workspaceId(em.fork(), workspace)),
  createWorkspaceApiKey: async (request, call, { em }) =>
    createWorkspaceKey(em, call, await workspaceId(em, request.workspace), request),
  updateWorkspaceApiKey: async (request, call, { em }) =>
    updateKey(em, call, await workspaceId(em, request.workspace), request),
  rotateWorkspaceApiKeys: async (request, call, { em }) =>
    rotateAllKeys(em, call, await workspaceId(em, request.workspace), request),
  revokeWorkspaceApiKey: async ({ workspace, key }, call, { em }) =>
    revokeKey(em, call, await workspaceId(em, workspace), key),

  async inviteWorkspaceMember({ workspace: sent, email, name, role }, call, { em, sendsMails }) {
    const workspace = await findWorkspace(em, sent);
    assertLive(workspace);
    // The first member must be able to invite others.
    const invitation = { email, name, role: memberRoleOf(role), roleOfFirst: "admin" } as const;
    return invitePerson(em, call, workspace.id, { ...invitation, sendsMails });
  },
};

async function workspaceId(em: EntityManager, sent: bigint): Promise<number> {
  return (await findWorkspace(em, sent)).id;
}
