import { create } from "@bufbuild/protobuf";
import {
  ApiKeyService,
  RevokeApiKeyResponseSchema,
  type RevokeApiKeyRequestValid,
  type RevokeApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import type { ApiKey } from "./api-key.entity.ts";
import { revokeKey } from "./revoke-key.ts";
import { findWorkingKeys, pickKey } from "./working-keys.ts";

/**
 * Ends a key of the workspace at once, which may be the one that the call came with.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST for the last one that works, or that is not to end
 */
export async function revokeApiKey(
  request: RevokeApiKeyRequestValid,
  call: Call,
  em: EntityManager,
): Promise<RevokeApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.revokeApiKey, request, call, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const working = await findWorkingKeys(tx, workspaceId);
    const key = pickKey(working, request.key);
    assertNotLast(key, working);
    await revokeKey(tx, call, key);
    return create(RevokeApiKeyResponseSchema);
  });
}

/** Without a key that works a workspace could not make another, nor for long without one that lasts. */
function assertNotLast(key: ApiKey, working: readonly ApiKey[]): void {
  const others = working.filter((other) => other !== key);
  if (key.endsAt && others.length === 0) throw lastKeyError("works");
  if (!key.endsAt && others.every(({ endsAt }) => endsAt)) throw lastKeyError("is not to end");
}

function lastKeyError(which: string): Refusal {
  const text = `This is the last key that ${which}; create another first.`;
  return refuse("API_KEY_LAST", text, { subject: "api_key" });
}
