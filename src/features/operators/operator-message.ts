import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  OperatorKind,
  OperatorRole as OperatorRoleMessage,
  OperatorSchema,
  type Operator as OperatorMessage,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorRole } from "../../domain/roles.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import { loadWorkingKeys } from "./operator-keys.ts";
import { Operator, type OperatorKindName } from "./operator.entity.ts";

const KIND: Readonly<Record<OperatorKindName, OperatorKind>> = {
  person: OperatorKind.PERSON,
  machine: OperatorKind.MACHINE,
};

const ROLE: Readonly<Record<OperatorRole, OperatorRoleMessage>> = {
  viewer: OperatorRoleMessage.VIEWER,
  operator: OperatorRoleMessage.OPERATOR,
  owner: OperatorRoleMessage.OWNER,
};

/** The stored name of a kind that a caller sends, which validation has checked. */
export function kindOf(kind: OperatorKind): OperatorKindName {
  return kind === OperatorKind.PERSON ? "person" : "machine";
}

/** The stored name of a role that a caller sends; undefined when it sends none. */
export function roleOf(role: OperatorRoleMessage | undefined): OperatorRole | undefined {
  const entries = Object.entries(ROLE) as [OperatorRole, OperatorRoleMessage][];
  return entries.find(([, sent]) => sent === role)?.[0];
}

/** An operator that exists, as the database has it now, with its keys. */
export async function loadOperatorMessage(em: EntityManager, id: number): Promise<OperatorMessage> {
  const operator = await em.findOneOrFail(Operator, id, { refresh: true });
  return operatorMessage(operator, await loadWorkingKeys(em, id));
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
    keys: keys.map((key) => ({
      id: key.id,
      name: key.name ?? undefined,
      last4: key.last4,
      createdAt: timestampFromDate(key.createdAt),
      lastUsedAt: key.lastUsedAt ? timestampFromDate(key.lastUsedAt) : undefined,
      endsAt: key.endsAt ? timestampFromDate(key.endsAt) : undefined,
    })),
  });
}
