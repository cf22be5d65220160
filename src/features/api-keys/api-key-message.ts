import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ApiKeySchema,
  type ApiKey as ApiKeyMessage,
} from "../../../gen/shipments/v1/api_key_pb.js";
import type { ApiKey } from "./api-key.entity.ts";

/**
 * A key as callers see it, without its secret.
 *
 * @param currentId the id of the key that the call came with, if it is a workspace's call
 */
export function apiKeyMessage(key: ApiKey, currentId?: string): ApiKeyMessage {
  const { id, name, last4, createdAt, lastUsedAt, endsAt } = key;
  return create(ApiKeySchema, {
    id,
    name: name ?? undefined,
    last4,
    createdAt: timestampFromDate(createdAt),
    lastUsedAt: lastUsedAt ? timestampFromDate(lastUsedAt) : undefined,
    endsAt: endsAt ? timestampFromDate(endsAt) : undefined,
    current: id === currentId,
  });
}
