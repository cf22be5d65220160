import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  OperatorKeySchema,
  OperatorKind,
  OperatorRole as OperatorRoleMessage,
  OperatorSchema,
  type Operator as OperatorMessage,
  type OperatorKey as OperatorKeyMessage,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { OperatorRole } from "../../domain/roles.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import type { Operator, OperatorKindName } from "./operator.entity.ts";

const KIND: Readonly<Record<OperatorKindName, OperatorKind>> = {
  person: OperatorKind.PERSON,
  machine: OperatorKind.MACHINE,
};

const ROLE: Readonly<Record<OperatorRole, OperatorRoleMessage>> = {
  viewer: OperatorRoleMessage.VIEWER,
  operator: OperatorRoleMessage.OPERATOR,
  owner: OperatorRoleMessage.OWNER,
};

/** The stored name of a kind that a caller sends, which validation has found to be a defined one. */
export function kindOf(kind: OperatorKind): OperatorKindName {
  return kind === OperatorKind.PERSON ? "person" : "machine";
}

/** The stored name of a role that a caller sends; undefined when it sends none. */
export function roleOf(role: OperatorRoleMessage | undefined): OperatorRole | undefined {
  const entries = Object.entries(ROLE) as [OperatorRole, OperatorRoleMessage][];
  return entries.find(([, sent]) => sent === role)?.[0];
}

/** An operator as callers see it, with the keys that work, oldest first. */
export function operatorMessage(
  { id, name, email, kind, role, createdAt, revokedAt }: Operator,
  keys: readonly OperatorKey[],
): OperatorMessage {
  return create(OperatorSchema, {
    id: BigInt(id),
    name,
    email: email ?? undefined,
    kind: KIND[kind as OperatorKindName],
    role: ROLE[role as OperatorRole],
    createdAt: timestampFromDate(createdAt),
    revokedAt: revokedAt ? timestampFromDate(revokedAt) : undefined,
    keys: keys.map(keyMessage),
  });
}

function keyMessage({
  id,
  name,
  last4,
  createdAt,
  lastUsedAt,
  endsAt,
}: OperatorKey): OperatorKeyMessage {
  return create(OperatorKeySchema, {
    id,
    name: name ?? undefined,
    last4,
    createdAt: timestampFromDate(createdAt),
    lastUsedAt: lastUsedAt ? timestampFromDate(lastUsedAt) : undefined,
    endsAt: endsAt ? timestampFromDate(endsAt) : undefined,
  });
}
