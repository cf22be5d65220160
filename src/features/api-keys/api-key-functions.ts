import type { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { createWorkspaceKey, listKeys, revokeKey, rotateKey, updateKey } from "./api-keys.ts";

export const API_KEY_FUNCTIONS: ServiceFunctions<typeof ApiKeyService, Call, DatabaseDeps> = {
  listApiKeys: (_request, { caller }, { em }) => listKeys(em, caller.workspaceId, caller.keyId),
  createApiKey: (request, call, { em }) => createWorkspaceKey(em, call, call.caller.workspaceId, request),
  updateApiKey: (request, call, { em }) => updateKey(em, call, call.caller.workspaceId, request),
  rotateApiKey: (request, call, { em }) => rotateKey(em, call, call.caller.workspaceId, request),
  revokeApiKey: ({ key }, call, { em }) => revokeKey(em, call, call.caller.workspaceId, key),
};
