import {
  ApiKeyService,
  type UpdateApiKeyRequestValid,
  type UpdateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { updateKey } from "./api-keys.ts";

/**
 * Changes the name and the scope of a key of the workspace, as far as given.
 *
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LAST when the last key of full scope is to be read-only
 */
export async function updateApiKey(
  request: UpdateApiKeyRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<UpdateApiKeyResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ApiKeyService.method.updateApiKey, request, call, (tx) =>
    updateKey(tx, call, workspaceId, request),
  );
}
