import { create } from "@bufbuild/protobuf";
import {
  ApiKeyService,
  UpdateApiKeyResponseSchema,
  type UpdateApiKeyRequestValid,
  type UpdateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import { apiKeyMessage, scopeOf } from "./api-key-message.ts";
import { assertNotLast } from "./assert-not-last.ts";
import { changeKey } from "./change-key.ts";
import { findWorkingKeys, pickKey } from "./working-keys.ts";

/**
 * Changes the name and the scope of a key of the workspace, as far as given.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST when the last key of full scope is to be read-only
 */
export async function updateApiKey(
  request: UpdateApiKeyRequestValid,
  call: Call,
  em: EntityManager,
): Promise<UpdateApiKeyResponse> {
  const { workspaceId, keyId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.updateApiKey, request, call, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const working = await findWorkingKeys(tx, workspaceId);
    const key = pickKey(working, request.key);
    if (scopeOf(request.scope) === "read_only") assertNotLast(key, working);
    const changed = await changeKey(tx, call, key, request);
    return create(UpdateApiKeyResponseSchema, { data: apiKeyMessage(changed, keyId) });
  });
}
