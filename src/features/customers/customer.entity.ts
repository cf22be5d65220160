import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * A person that a workspace ships for; one row for each workspace, name and email, where emails
 * that differ only in case are the same.
 */
export const Customer = defineEntity({
  name: "Customer",
  tableName: "customer",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    email: p.text(),
    emailLower: p.text(),
    idNumber: p.text().nullable(),
    createdAt: p.datetime(3),
  },
  uniques: [{ name: "customer_once", properties: ["workspace", "name", "emailLower"] }],
  indexes: [{ name: "customer_by_email", properties: ["workspace", "emailLower", "id"] }],
  checks: [
    { name: "customer_name_given", expression: "name <> ''" },
    { name: "customer_email_lower", expression: "email_lower = lower(email) and email <> ''" },
  ],
});

export type Customer = InferEntity<typeof Customer>;
