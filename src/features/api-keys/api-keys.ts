import {
  type ApiKey as ApiKeyMessage,
  type ApiKeyScope,
  ApiKeySchema,
  ApiKeyScopeSchema,
} from "../../../gen/shipments/v1/api_key_pb.js";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { EntityManager } from "../../db/orm.ts";
import { MAX_API_KEYS, MAX_WORKING_API_KEYS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import type { KeyScope } from "../../domain/roles.ts";
import { compileEnumName, compileToMessage } from "../../json/records.ts";
import type { Call, OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import {
  assertNotLast,
  createKey,
  evictKeys,
  expireKeys,
  isWorking,
  OLDEST_FIRST,
  overlapSecondsOf,
  pickKey,
} from "../credentials/secret-keys.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { ApiKey } from "./api-key.entity.ts";

// Key management for workspaces and operators, in the transaction of their call.

/** A new key and its secret, which cannot be read again. */
export interface CreatedKey {
  readonly data: ApiKeyMessage;
  readonly apiKey: string;
}

/** Lists the active keys of a workspace, oldest first. Their number is limited, so there are no pages. */
export async function listKeys(
  em: EntityManager,
  workspaceId: number,
  currentId?: string,
): Promise<{ data: ApiKeyMessage[] }> {
  const keys = await loadWorkingKeys(em.fork(), workspaceId);
  return { data: keys.map((key) => apiKeyMessage(key, currentId)) };
}

export function loadWorkingKeys(em: EntityManager, workspace: number): Promise<ApiKey[]> {
  return em.find(ApiKey, { workspace, ...isWorking() }, { orderBy: OLDEST_FIRST });
}

/** Like `loadWorkingKeys`, but also serializes changes to the workspace's keys. */
function lockWorkingKeys(tx: EntityManager, workspace: number): Promise<ApiKey[]> {
  return lockAndLoad(tx, "api keys", workspace, () => loadWorkingKeys(tx, workspace));
}

export async function insertKey(
  tx: EntityManager,
  workspace: number,
  { name, scope }: { readonly name: string | null; readonly scope: KeyScope },
): Promise<CreatedKey> {
  const { twinOf } = await tx.findOneOrFail(Workspace, workspace);
  const { secret, stored } = createKey(twinOf ? "shp_test_" : "shp_");
  await tx.insert(ApiKey, { ...stored, workspace, name, scope });
  return { data: apiKeyMessage(await tx.findOneOrFail(ApiKey, stored.hash)), apiKey: secret };
}

/**
 * Creates an API key and records the change.
 *
 * @throws Refusal API_KEY_LIMIT
 */
export async function createWorkspaceKey(
  tx: EntityManager,
  call: Call | OperatorCall,
  workspaceId: number,
  request: { readonly name: string; readonly scope?: ApiKeyScope | undefined },
): Promise<CreatedKey> {
  assertCapacity(await lockWorkingKeys(tx, workspaceId));
  const { name } = request;
  const scope = scopeOf(request.scope) ?? "full";
  const created = await insertKey(tx, workspaceId, { name, scope });
  const { id, last4 } = created.data;
  const changes = changesBetween({}, { name, scope, last4 });
  recordChange(tx, call, { subject: `api_key/${id}`, workspaceId, changes });
  return created;
}

/**
 * Changes the name and scope of a key, if given. Takes effect on every replica within a second.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST if a workspace would lose its last key with full scope
 */
export async function updateKey(
  tx: EntityManager,
  call: Call | OperatorCall,
  workspaceId: number,
  request: { readonly key: string; readonly name?: string; readonly scope?: ApiKeyScope },
): Promise<{ data: ApiKeyMessage }> {
  const requested = scopeOf(request.scope);
  const key = await findForUpdate(tx, call, workspaceId, {
    id: request.key,
    endsFullScope: requested !== undefined && requested !== "full",
  });
  const { hash, id, name = null, scope } = key;
  const before = { name, scope };
  const after = { name: request.name ?? name, scope: requested ?? scope };
  const changes = changesBetween(before, after);
  if (changes.length > 0) {
    await tx.nativeUpdate(ApiKey, { hash }, after);
    await evictKeys(tx, "api_key", workspaceId);
    recordChange(tx, call, { subject: `api_key/${id}`, workspaceId, changes });
    await tx.refresh(key);
  }
  return { data: apiKeyMessage(key, call.caller.keyId) };
}

/**
 * Revokes a key immediately. It can be the key of this call.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST if a workspace revokes its last active key with
 *   full scope, or its last key without an expiry
 */
export async function revokeKey(
  tx: EntityManager,
  call: Call | OperatorCall,
  workspaceId: number,
  id: string,
): Promise<object> {
  const key = await findForUpdate(tx, call, workspaceId, { id, endsFullScope: true });
  const [expired] = await expireKeys(tx, "api_key", [key], 0);
  const { before, endsAt } = expired!;
  const changes = changesBetween({ ends_at: before }, { ends_at: endsAt });
  recordChange(tx, call, { subject: `api_key/${id}`, workspaceId, changes });
  return {};
}

/**
 * Finds a key for a change. Only operators can remove the last key with full scope, because the
 * workspace could not create another.
 */
async function findForUpdate(
  tx: EntityManager,
  { caller }: Call | OperatorCall,
  workspaceId: number,
  { id, endsFullScope }: { readonly id: string; readonly endsFullScope: boolean },
): Promise<ApiKey> {
  const working = await lockWorkingKeys(tx, workspaceId);
  const key = pickKey(working, id);
  if (caller.audience === "workspace" && endsFullScope && key.scope === "full") {
    const ofFullScope = working.filter(({ scope }) => scope === "full");
    assertNotLast(key, ofFullScope, "with full scope");
  }
  return key;
}

/**
 * Replaces a key with a new key with the same name and scope. The old key expires after the
 * overlap, or at its existing expiry if that is sooner.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LIMIT
 */
export async function rotateKey(
  tx: EntityManager,
  call: Call | OperatorCall,
  workspaceId: number,
  request: { readonly key: string; readonly overlapSeconds?: number },
): Promise<CreatedKey> {
  const overlapSeconds = overlapSecondsOf(request.key, request.overlapSeconds, call.caller.keyId);
  const working = await lockWorkingKeys(tx, workspaceId);
  const old = pickKey(working, request.key);
  const [expired] = await expireKeys(tx, "api_key", [old], overlapSeconds);
  const { id, before, endsAt } = expired!;
  const others = working.filter((key) => key !== old);
  assertCapacity(overlapSeconds > 0 ? [...others, expired!] : others);
  const { name = null, scope } = old;
  const created = await insertKey(tx, workspaceId, { name, scope: scope as KeyScope });
  const after = { ends_at: endsAt, replaced_by: created.data.id };
  const changes = changesBetween({ ends_at: before }, after);
  recordChange(tx, call, { subject: `api_key/${id}`, workspaceId, changes });
  return created;
}

/**
 * Replaces all keys of a workspace with one unnamed key with full scope. The old keys expire after
 * the overlap, or at their existing expiry if that is sooner.
 *
 * @throws Refusal API_KEY_LIMIT
 */
export async function rotateAllKeys(
  tx: EntityManager,
  call: Call | OperatorCall,
  workspaceId: number,
  { overlapSeconds = 0 }: { readonly overlapSeconds?: number },
): Promise<CreatedKey> {
  const working = await lockWorkingKeys(tx, workspaceId);
  const expired = await expireKeys(tx, "api_key", working, overlapSeconds);
  assertCapacity(overlapSeconds > 0 ? expired : []);
  const created = await insertKey(tx, workspaceId, { name: null, scope: "full" });
  const ends = (end: "before" | "endsAt") =>
    Object.fromEntries(expired.map((key) => [`api_key/${key.id}.ends_at`, key[end]]));
  const changes = changesBetween(ends("before"), {
    ...ends("endsAt"),
    new_api_key: created.data.id,
  });
  recordChange(tx, call, { subject: `workspace/${workspaceId}`, workspaceId, changes });
  return created;
}

/**
 * Checks that a workspace can have one more key.
 *
 * @param others the keys that will be active in addition to the new one
 * @throws Refusal API_KEY_LIMIT if `MAX_API_KEYS` of them have no expiry, or `MAX_WORKING_API_KEYS` are active
 */
function assertCapacity(others: readonly { readonly endsAt?: Date | null }[]): void {
  const isFull = others.filter(({ endsAt }) => !endsAt).length >= MAX_API_KEYS;
  if (!isFull && others.length < MAX_WORKING_API_KEYS) return;
  const keys = isFull ? `${MAX_API_KEYS} keys` : `${MAX_WORKING_API_KEYS} active keys, expiring ones included`;
  const text = `The workspace has reached its limit of ${keys}. Revoke one first.`;
  throw refuse("API_KEY_LIMIT", text, { subject: "api_key" });
}

const scopeOf = compileEnumName<KeyScope>(ApiKeyScopeSchema);
const toMessage = compileToMessage(ApiKeySchema);

/**
 * Returns a key as an API message, without the secret.
 *
 * @param currentId id of the API key that authenticated the call, if any
 */
function apiKeyMessage(key: ApiKey, currentId?: string): ApiKeyMessage {
  return toMessage({ ...key, current: key.id === currentId });
}
