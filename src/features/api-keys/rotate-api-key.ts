import {
  ApiKeyService,
  type RotateApiKeyRequestValid,
  type RotateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { rotateKey } from "./api-keys.ts";

/**
 * Replaces a key of the workspace by a new one of the same name and scope.
 *
 * @returns the new key, and its secret, which no other call shows
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LIMIT
 */
export async function rotateApiKey(
  request: RotateApiKeyRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<RotateApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.rotateApiKey, request, call, (tx) =>
    rotateKey(tx, call, workspaceId, request),
  );
}
