import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ApiKeySchema,
  ApiKeyScope,
  type ApiKey as ApiKeyMessage,
} from "../../../gen/shipments/v1/api_key_pb.js";
import { KEY_SCOPES, type KeyScope } from "../../domain/roles.ts";
import type { ApiKey } from "./api-key.entity.ts";

const SCOPE: Readonly<Record<KeyScope, ApiKeyScope>> = {
  read_only: ApiKeyScope.READ_ONLY,
  full: ApiKeyScope.FULL,
};

/** The stored name of a scope that a caller sends; undefined when it sends none. */
export function scopeOf(sent: ApiKeyScope | undefined): KeyScope | undefined {
  return KEY_SCOPES.find((scope) => SCOPE[scope] === sent);
}

/**
 * A key as callers see it, without its secret.
 *
 * @param currentId the id of the key that the call came with, if it is a workspace's call
 */
export function apiKeyMessage(key: ApiKey, currentId?: string): ApiKeyMessage {
  const { id, name, scope, last4, createdAt, lastUsedAt, endsAt } = key;
  return create(ApiKeySchema, {
    id,
    name: name ?? undefined,
    last4,
    createdAt: timestampFromDate(createdAt),
    lastUsedAt: lastUsedAt ? timestampFromDate(lastUsedAt) : undefined,
    endsAt: endsAt ? timestampFromDate(endsAt) : undefined,
    current: id === currentId,
    scope: SCOPE[scope as KeyScope],
  });
}
