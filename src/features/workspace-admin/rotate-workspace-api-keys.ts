import { create } from "@bufbuild/protobuf";
import {
  RotateWorkspaceApiKeysResponseSchema,
  WorkspaceAdminService,
  type RotateWorkspaceApiKeysRequestValid,
  type RotateWorkspaceApiKeysResponse,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { addKey } from "../api-keys/add-key.ts";
import { apiKeyMessage } from "../api-keys/api-key-message.ts";
import { assertRoomForKey } from "../api-keys/assert-room-for-key.ts";
import { endApiKeys } from "../api-keys/end-api-keys.ts";
import { findWorkingKeys } from "../api-keys/working-keys.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findWorkspace } from "./find-workspace.ts";

/**
 * Gives a workspace a new key of full scope at once. Every other key ends after the overlap, or when it was to end
 * anyway, whichever is sooner.
 *
 * @returns the new key, and its secret, which no other call shows
 * @throws Refusal WORKSPACE_NOT_FOUND, API_KEY_LIMIT
 */
export async function rotateWorkspaceApiKeys(
  request: RotateWorkspaceApiKeysRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<RotateWorkspaceApiKeysResponse> {
  const method = WorkspaceAdminService.method.rotateWorkspaceApiKeys;
  const { overlapSeconds = 0 } = request;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id: workspaceId } = await findWorkspace(tx, request.workspace, "lock");
    const others = await findWorkingKeys(tx, workspaceId);
    const ended = await endApiKeys(tx, others, overlapSeconds);
    assertRoomForKey(overlapSeconds > 0 ? others : []);
    const { key, secret } = await addKey(tx, workspaceId, { name: null, scope: "full" });
    const ends = (end: (it: (typeof ended)[number]) => Date | null) =>
      Object.fromEntries(ended.map((it) => [`api_key/${it.id}.ends_at`, end(it)]));
    recordChange(tx, call, {
      subject: `workspace/${workspaceId}`,
      workspaceId,
      changes: changesBetween(
        ends((it) => it.before),
        { ...ends((it) => it.endsAt), new_api_key: key.id },
      ),
    });
    const data = apiKeyMessage(key);
    return create(RotateWorkspaceApiKeysResponseSchema, { data, apiKey: secret });
  });
}
