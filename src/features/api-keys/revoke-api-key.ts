import { create } from "@bufbuild/protobuf";
import {
  ApiKeyService,
  RevokeApiKeyResponseSchema,
  type RevokeApiKeyRequestValid,
  type RevokeApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import { assertNotLast } from "./assert-not-last.ts";
import { revokeKey } from "./revoke-key.ts";
import { findWorkingKeys, pickKey } from "./working-keys.ts";

/**
 * Ends a key of the workspace at once, which may be the one that the call came with.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST for the last one of full scope that works, or that is
 * not to end
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
