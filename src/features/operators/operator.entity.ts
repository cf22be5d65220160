import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { OPERATOR_ROLES, type OperatorRole } from "../../domain/roles.ts";

export type OperatorKindName = "person" | "machine";

/** A person or machine that administers the platform. Never deleted, because the audit log refers to it. */
export const Operator = defineEntity({
  name: "Operator",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    /** Required if the operator is a person. */
    email: p.text().nullable(),
    kind: p.text().$type<OperatorKindName>(),
    role: p.text().$type<OperatorRole>(),
    createdAt: p.datetime(3),
    /** null if active. */
    revokedAt: p.datetime(3).nullable(),
  },
  indexes: [
    {
      name: "operator_email_unique",
      expression: "create unique index operator_email_unique on operator (lower(email)) where revoked_at is null",
    },
  ],
  checks: [
    { name: "operator_name_given", expression: "name <> ''" },
    { name: "operator_kind", expression: "kind in ('person', 'machine')" },
    {
      name: "operator_role",
      expression: `role in (${OPERATOR_ROLES.map((it) => `'${it}'`).join(", ")})`,
    },
    { name: "operator_person_has_email", expression: "kind = 'machine' or email is not null" },
  ],
});

export type Operator = InferEntity<typeof Operator>;
