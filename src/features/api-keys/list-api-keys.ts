import { create } from "@bufbuild/protobuf";
import {
  ListApiKeysResponseSchema,
  type ListApiKeysResponse,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { listKeys } from "./api-keys.ts";

/** Lists the workspace's keys that work, the oldest first. */
export async function listApiKeys(
  _request: unknown,
  { caller: { workspaceId, keyId } }: Call,
  { em }: DatabaseDeps,
): Promise<ListApiKeysResponse> {
  return create(ListApiKeysResponseSchema, await listKeys(em, workspaceId, keyId));
}
