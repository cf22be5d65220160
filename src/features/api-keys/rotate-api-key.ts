import { create } from "@bufbuild/protobuf";
import {
  ApiKeyService,
  RotateApiKeyResponseSchema,
  type RotateApiKeyRequestValid,
  type RotateApiKeyResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { KeyScope } from "../../domain/roles.ts";
import type { Call } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { overlapSecondsOf } from "../credentials/overlap-seconds.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import { addKey } from "./add-key.ts";
import { apiKeyMessage } from "./api-key-message.ts";
import { assertRoomForKey } from "./assert-room-for-key.ts";
import { endApiKeys } from "./end-api-keys.ts";
import { findWorkingKeys, pickKey } from "./working-keys.ts";

/**
 * Replaces a key of the workspace by a new one of the same name and scope. The old one ends after the overlap,
 * or when it was to end anyway, whichever is sooner.
 *
 * @returns the new key, and its secret, which no other call shows
 * @throws Refusal API_KEY_NOT_FOUND, API_KEY_LIMIT
 */
export async function rotateApiKey(
  request: RotateApiKeyRequestValid,
  call: Call,
  em: EntityManager,
): Promise<RotateApiKeyResponse> {
  const overlapSeconds = overlapSecondsOf(request.key, request.overlapSeconds, call.caller.keyId);
  return withIdempotency(em, ApiKeyService.method.rotateApiKey, request, call, async (tx) => {
    const { workspaceId } = call.caller;
    await lockWorkspace(tx, workspaceId);
    const working = await findWorkingKeys(tx, workspaceId);
    const old = pickKey(working, request.key);
    const [ended] = await endApiKeys(tx, [old], overlapSeconds);
    // Those read before, of which `old` has its new end by now.
    assertRoomForKey(overlapSeconds > 0 ? working : working.filter((key) => key !== old));
    const { key, secret } = await addKey(tx, workspaceId, {
      name: old.name ?? null,
      scope: old.scope as KeyScope,
    });
    const { id, before, endsAt } = ended!;
    recordChange(tx, call, {
      subject: `api_key/${id}`,
      workspaceId,
      changes: changesBetween({ ends_at: before }, { ends_at: endsAt, replaced_by: key.id }),
    });
    return create(RotateApiKeyResponseSchema, { data: apiKeyMessage(key), apiKey: secret });
  });
}
