import { create } from "@bufbuild/protobuf";
import {
  ListApiKeysResponseSchema,
  type ListApiKeysResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { apiKeyMessage } from "./api-key-message.ts";
import { findWorkingKeys } from "./working-keys.ts";

/** Lists the workspace's keys that work, the oldest first; few enough to need no pages. */
export async function listApiKeys(
  { caller: { workspaceId, keyId } }: Call,
  em: EntityManager,
): Promise<ListApiKeysResponse> {
  const keys = await findWorkingKeys(em.fork(), workspaceId);
  return create(ListApiKeysResponseSchema, { data: keys.map((key) => apiKeyMessage(key, keyId)) });
}
