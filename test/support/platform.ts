import {
  ConnectPaymentProviderRequestSchema,
  CreateWorkspaceRequestSchema,
  DisconnectPaymentProviderRequestSchema,
  ListWorkspaceApiKeysRequestSchema,
  ResumeWorkspaceRequestSchema,
  RevokeWorkspaceApiKeyRequestSchema,
  RotateWorkspaceApiKeysRequestSchema,
  SuspendWorkspaceRequestSchema,
  UpdateWorkspaceLimitsRequestSchema,
  WorkspaceAdminService,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { ApiKey } from "../../gen/shipments/v1/api_key_pb.js";
import { createRequest } from "../../src/commands/command-line-call.ts";
import type { EntityManager } from "../../src/db/orm.ts";
import { connectPaymentProvider } from "../../src/features/workspace-admin/connect-payment-provider.ts";
import { createWorkspace } from "../../src/features/workspace-admin/create-workspace.ts";
import { disconnectPaymentProvider } from "../../src/features/workspace-admin/disconnect-payment-provider.ts";
import { listWorkspaceApiKeys } from "../../src/features/workspace-admin/list-workspace-api-keys.ts";
import { resumeWorkspace } from "../../src/features/workspace-admin/resume-workspace.ts";
import { revokeWorkspaceApiKey } from "../../src/features/workspace-admin/revoke-workspace-api-key.ts";
import { rotateWorkspaceApiKeys } from "../../src/features/workspace-admin/rotate-workspace-api-keys.ts";
import { suspendWorkspace } from "../../src/features/workspace-admin/suspend-workspace.ts";
import { updateWorkspaceLimits } from "../../src/features/workspace-admin/update-workspace-limits.ts";
import type { LimitClass, RateLimit } from "../../src/domain/rate-limit.ts";
import { localCall } from "../../src/pipeline/local-call.ts";

const { method } = WorkspaceAdminService;

/** A workspace of a test's own. */
export interface TestWorkspace {
  readonly id: number;
  readonly apiKey: string;
}

const callOf = (of: (typeof method)[keyof typeof method]) =>
  localCall(of, "command_line", "a test");

/** Makes a workspace as operators do; gives its id and its first key, and the same of its test twin. */
export async function makeWorkspace(
  em: EntityManager,
  fields: { readonly name: string; readonly paymentProvider?: "manual" | undefined },
): Promise<TestWorkspace & { readonly twin: TestWorkspace }> {
  const request = createRequest(CreateWorkspaceRequestSchema, fields);
  const call = callOf(method.createWorkspace);
  const { data, apiKey, testApiKey } = await createWorkspace(request, call, { em });
  const twin = { id: Number(data!.testWorkspace), apiKey: testApiKey };
  return { id: Number(data!.id), apiKey, twin };
}

/** Connects a payment provider to a workspace; undefined disconnects it. */
export async function setPaymentProvider(
  em: EntityManager,
  id: number,
  paymentProvider: "manual" | undefined,
): Promise<void> {
  const workspace = BigInt(id);
  if (paymentProvider === undefined) {
    const request = createRequest(DisconnectPaymentProviderRequestSchema, { workspace });
    await disconnectPaymentProvider(request, callOf(method.disconnectPaymentProvider), { em });
  } else {
    const fields = { workspace, paymentProvider };
    const request = createRequest(ConnectPaymentProviderRequestSchema, fields);
    await connectPaymentProvider(request, callOf(method.connectPaymentProvider), { em });
  }
}

/** Sets the limit of a workspace for one class of methods. */
export async function setLimit(
  em: EntityManager,
  id: number,
  limitClass: LimitClass,
  limit: RateLimit,
): Promise<void> {
  const fields = { workspace: BigInt(id), [limitClass]: limit };
  const request = createRequest(UpdateWorkspaceLimitsRequestSchema, fields);
  await updateWorkspaceLimits(request, callOf(method.updateWorkspaceLimits), { em });
}

/** Refuses all calls of a workspace. */
export async function suspend(em: EntityManager, id: number): Promise<void> {
  const request = createRequest(SuspendWorkspaceRequestSchema, { workspace: BigInt(id) });
  await suspendWorkspace(request, callOf(method.suspendWorkspace), { em });
}

/** Takes the calls of a suspended workspace again. */
export async function resume(em: EntityManager, id: number): Promise<void> {
  const request = createRequest(ResumeWorkspaceRequestSchema, { workspace: BigInt(id) });
  await resumeWorkspace(request, callOf(method.resumeWorkspace), { em });
}

/** Gives a workspace a new key, and returns it; the others end after the overlap. */
export async function rotateKeys(
  em: EntityManager,
  id: number,
  overlapSeconds: number,
): Promise<string> {
  const fields = { workspace: BigInt(id), overlapSeconds };
  const request = createRequest(RotateWorkspaceApiKeysRequestSchema, fields);
  const call = callOf(method.rotateWorkspaceApiKeys);
  return (await rotateWorkspaceApiKeys(request, call, { em })).apiKey;
}

/** The working keys of a workspace, the oldest first. */
export async function listKeys(em: EntityManager, id: number): Promise<ApiKey[]> {
  const request = createRequest(ListWorkspaceApiKeysRequestSchema, { workspace: BigInt(id) });
  return (await listWorkspaceApiKeys(request, undefined, { em })).data;
}

/** Ends a working key of a workspace now. */
export async function revokeKey(em: EntityManager, id: number, apiKey: string): Promise<void> {
  const key = (await listKeys(em, id)).find(({ last4 }) => apiKey.endsWith(last4))!.id;
  const fields = { workspace: BigInt(id), key };
  const request = createRequest(RevokeWorkspaceApiKeyRequestSchema, fields);
  await revokeWorkspaceApiKey(request, callOf(method.revokeWorkspaceApiKey), { em });
}
