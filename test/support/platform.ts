import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { ApiKey } from "../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../../src/db/orm.ts";
import type { LimitClass, RateLimit } from "../../src/domain/rate-limit.ts";
import { callLocally } from "../../src/server/local-rpcs.ts";

const { method } = WorkspaceAdminService;

/** A separate workspace for a test. */
export interface TestWorkspace {
  readonly id: number;
  readonly apiKey: string;
}

const ACTOR = { actor: "command_line", name: "a test" } as const;

/** Creates a workspace as an operator does. Returns its id and first key, and those of its test twin. */
export async function makeWorkspace(
  em: EntityManager,
  fields: { readonly name: string; readonly paymentProvider?: "manual" | undefined },
): Promise<TestWorkspace & { readonly twin: TestWorkspace }> {
  const created = await callLocally(em, ACTOR, method.createWorkspace, fields);
  const { data, apiKey, testApiKey } = created;
  const twin = { id: Number(data!.testWorkspace), apiKey: testApiKey };
  return { id: Number(data!.id), apiKey, twin };
}

/** Connects a payment provider to a workspace. `undefined` disconnects the current one. */
export async function setPaymentProvider(
  em: EntityManager,
  id: number,
  paymentProvider: "manual" | undefined,
): Promise<void> {
  const workspace = BigInt(id);
  if (paymentProvider === undefined) {
    await callLocally(em, ACTOR, method.disconnectPaymentProvider, { workspace });
  } else {
    await callLocally(em, ACTOR, method.connectPaymentProvider, { workspace, paymentProvider });
  }
}

/** Sets the rate limit of a workspace for one class of methods. */
export async function setLimit(em: EntityManager, id: number, limitClass: LimitClass, limit: RateLimit): Promise<void> {
  const fields = { workspace: BigInt(id), [limitClass]: limit };
  await callLocally(em, ACTOR, method.updateWorkspaceLimits, fields);
}

export async function suspend(em: EntityManager, id: number): Promise<void> {
  await callLocally(em, ACTOR, method.suspendWorkspace, { workspace: BigInt(id) });
}

/** Creates and returns a new key for a workspace. The other keys expire after the overlap. */
export async function rotateKeys(em: EntityManager, id: number, overlapSeconds: number): Promise<string> {
  const fields = { workspace: BigInt(id), overlapSeconds };
  return (await callLocally(em, ACTOR, method.rotateWorkspaceApiKeys, fields)).apiKey;
}

/** Returns the active keys of a workspace, oldest first. */
export async function listKeys(em: EntityManager, id: number): Promise<ApiKey[]> {
  return (await callLocally(em, ACTOR, method.listWorkspaceApiKeys, { workspace: BigInt(id) })).data;
}

/** Revokes an active key of a workspace. */
export async function revokeKey(em: EntityManager, id: number, apiKey: string): Promise<void> {
  const key = (await listKeys(em, id)).find(({ last4 }) => apiKey.endsWith(last4))!.id;
  await callLocally(em, ACTOR, method.revokeWorkspaceApiKey, { workspace: BigInt(id), key });
}
