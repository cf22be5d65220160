import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  AdminWorkspaceSchema,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { DEFAULT_LIMITS } from "../../domain/rate-limit.ts";
import { refuse } from "../../domain/refusal.ts";
import { compileToMessage } from "../../json/records.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { lockWorkspace, Workspace } from "../workspaces/workspace.entity.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { WorkspaceLimit } from "../workspaces/workspace-limit.entity.ts";

const toMessage = compileToMessage(AdminWorkspaceSchema);

/** Returns workspaces as API messages for operators, with payment providers and limits, in the given order. */
export async function loadAdminWorkspaces(
  em: EntityManager,
  workspaces: readonly Workspace[],
): Promise<AdminWorkspace[]> {
  const ids = workspaces.map(({ id }) => id);
  const of = { workspace: { $in: ids } };
  const connections = await em.find(PaymentConnection, of, { refresh: true });
  const limits = await em.find(WorkspaceLimit, of, { refresh: true });
  const providerOf = new Map(connections.map((it) => [it.workspace, it.provider]));
  const twins = await em.find(Workspace, { twinOf: { $in: ids } });
  const twinOf = new Map(twins.map((it) => [it.twinOf, it.id]));
  const lives = await em.find(Workspace, { id: workspaces.flatMap((it) => it.twinOf ?? []) });
  const liveOf = new Map(lives.map((it) => [it.id, it]));
  const limitsOf = Map.groupBy(limits, (it) => it.workspace);
  return workspaces.map((workspace) => {
    const { id, twinOf: liveId } = workspace;
    const { name, suspendedAt, timeZone } = liveId ? liveOf.get(liveId)! : workspace;
    const own = (limitsOf.get(id) ?? []).map(({ limitClass, rate, burst }) => [limitClass, { rate, burst }] as const);
    return toMessage({
      ...workspace,
      name,
      suspendedAt,
      timeZone,
      paymentProvider: providerOf.get(id),
      limits: { ...DEFAULT_LIMITS, ...Object.fromEntries(own) },
      testWorkspace: twinOf.get(id),
      liveWorkspace: liveId,
    });
  });
}

export async function loadAdminWorkspace(em: EntityManager, workspace: Workspace): Promise<AdminWorkspace> {
  const [loaded] = await loadAdminWorkspaces(em, [workspace]);
  return loaded!;
}

/**
 * Finds a workspace. Locks its row if `lock` is given.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function findWorkspace(em: EntityManager, sent: bigint, lock?: "lock"): Promise<Workspace> {
  const id = readRecordId(sent) ?? 0;
  const found = await (lock === undefined ? em.findOne(Workspace, id) : lockWorkspace(em, id));
  if (found === null) throw refuse("WORKSPACE_NOT_FOUND", `There is no workspace ${sent}.`);
  return found;
}

/**
 * Checks that a workspace is not a test twin, which uses the settings of its live workspace.
 *
 * @throws Refusal WORKSPACE_IS_TEST
 */
export function assertLive({ id, twinOf }: Workspace): void {
  if (!twinOf) return;
  throw refuse(
    "WORKSPACE_IS_TEST",
    `Workspace ${id} is the test twin of workspace ${twinOf}. Use workspace ${twinOf}.`,
    { subject: "workspace" },
  );
}

/**
 * Changes a workspace while holding its row lock, and records the differences in the audit log.
 *
 * @returns the changed workspace
 * @throws Refusal WORKSPACE_NOT_FOUND, and the refusals of `change`
 */
export async function changeWorkspace(
  tx: EntityManager,
  call: OperatorCall,
  sent: bigint,
  change: (workspace: Workspace) => Promise<void> | void,
): Promise<{ data: AdminWorkspace }> {
  const workspace = await findWorkspace(tx, sent, "lock");
  const before = recordedOf(await loadAdminWorkspace(tx, workspace));
  await change(workspace);
  await tx.flush();
  const data = await loadAdminWorkspace(tx, workspace);
  const changes = changesBetween(before, recordedOf(data));
  if (changes.length > 0) {
    const { id } = workspace;
    recordChange(tx, call, { subject: `workspace/${id}`, workspaceId: id, changes });
  }
  return { data };
}

/** Like `changeWorkspace`, for settings that a test twin inherits. */
export function changeLiveWorkspace(
  tx: EntityManager,
  call: OperatorCall,
  sent: bigint,
  change: (workspace: Workspace) => Promise<void> | void,
): Promise<{ data: AdminWorkspace }> {
  return changeWorkspace(tx, call, sent, (workspace) => {
    assertLive(workspace);
    return change(workspace);
  });
}

/** Like `evictKeys`, for a live workspace and its test twin. */
export async function evictKeysOfBoth(tx: EntityManager, { id }: Workspace): Promise<void> {
  const twin = await tx.findOne(Workspace, { twinOf: id });
  await evictKeys(tx, "api_key", id);
  if (twin !== null) await evictKeys(tx, "api_key", twin.id);
}

/** Returns the properties of a workspace that operators can change, for the audit log. */
function recordedOf(workspace: AdminWorkspace) {
  const { name, paymentProvider, suspendedAt, timeZone, limits } = workspace;
  return {
    name,
    payment_provider: paymentProvider,
    suspended_at: suspendedAt && timestampDate(suspendedAt),
    time_zone: timeZone,
    "limits.quote": limitText(limits?.quote),
    "limits.read": limitText(limits?.read),
    "limits.write": limitText(limits?.write),
  };
}

function limitText(limit: { readonly rate: number; readonly burst: number } | undefined) {
  return limit && `${limit.rate} per second, burst ${limit.burst}`;
}
