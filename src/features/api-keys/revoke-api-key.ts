import {
  ApiKeyService,
  type RevokeApiKeyRequestValid,
  type RevokeApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { revokeKey } from "./api-keys.ts";

/**
 * Revokes a key of the workspace at once, which may be the one that the call came with.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST for the last one of full scope that works, or that is
 * not to end
 */
export async function revokeApiKey(
  request: RevokeApiKeyRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<RevokeApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.revokeApiKey, request, call, async (tx) => {
    await revokeKey(tx, call, workspaceId, request.key);
    return {};
  });
}
