import { create } from "@bufbuild/protobuf";
import {
  ApiKeyService,
  CreateApiKeyResponseSchema,
  type CreateApiKeyRequestValid,
  type CreateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import { apiKeyMessage } from "./api-key-message.ts";
import { makeKey } from "./api-keys.ts";

/**
 * Adds a key to the workspace.
 *
 * @returns the key, and its secret, which no other call shows
 * @throws Refusal API_KEY_LIMIT
 */
export async function createApiKey(
  request: CreateApiKeyRequestValid,
  call: Call,
  em: EntityManager,
): Promise<CreateApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.createApiKey, request, call, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const { key, secret } = await makeKey(tx, call, workspaceId, request);
    return create(CreateApiKeyResponseSchema, { data: apiKeyMessage(key), apiKey: secret });
  });
}
