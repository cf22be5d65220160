import type { EntityManager } from "../../db/orm.ts";
import type { KeyScope } from "../../domain/roles.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { createKeyCache, type KeyCache, type LoadedKey } from "../credentials/key-cache.ts";
import { isWorking } from "../credentials/secret-keys.ts";
import { findLimits } from "../workspaces/workspace-limit.entity.ts";
import type { FindTracking } from "../workspaces/tracking-urls.ts";
import { findLive, Workspace } from "../workspaces/workspace.entity.ts";
import { ApiKey } from "./api-key.entity.ts";

/** Cache that finds the workspace of an API key. */
export type ApiKeyCache = KeyCache<WorkspaceCaller>;

export function createApiKeyCache(em: EntityManager, findTracking: FindTracking): ApiKeyCache {
  return createKeyCache("api_key", (hash) => loadKey(em.fork(), hash, findTracking));
}

async function loadKey(
  em: EntityManager,
  hash: string,
  findTracking: FindTracking,
): Promise<LoadedKey<WorkspaceCaller> | undefined> {
  const key = await em.findOne(ApiKey, { hash, ...isWorking() });
  if (key === null) return undefined;
  const { workspace, id, name, last4, scope, changedAt } = key;
  const found = await em.findOneOrFail(Workspace, workspace);
  const { suspendedAt } = await findLive(em, found);
  const caller: WorkspaceCaller = {
    audience: "workspace",
    account: workspace,
    workspaceId: workspace,
    limits: await findLimits(em, workspace),
    test: Boolean(found.twinOf),
    suspended: Boolean(suspendedAt),
    keyId: id,
    key: { id, name: name ?? null, last4 },
    keyScope: scope as KeyScope,
    member: undefined,
    ...(await findTracking(em, workspace)),
  };
  return { caller, endsAt: key.endsAt, changedAt };
}
