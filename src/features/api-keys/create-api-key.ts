import {
  ApiKeyService,
  type CreateApiKeyRequestValid,
  type CreateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { createWorkspaceKey } from "./api-keys.ts";

/**
 * Creates a key of the workspace.
 *
 * @returns the key, and its secret, which no other call shows
 * @throws Refusal API_KEY_LIMIT
 */
export async function createApiKey(
  request: CreateApiKeyRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<CreateApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.createApiKey, request, call, (tx) =>
    createWorkspaceKey(tx, call, workspaceId, request),
  );
}
