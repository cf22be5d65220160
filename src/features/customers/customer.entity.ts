import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import type { Customer as CustomerMessage } from "../../../gen/shipments/v1/customer_pb.js";
import { columnsOf, type Row } from "../../db/columns.ts";

/**
 * What names are searched by: all of it, and its last word where there are several, in lower case and in
 * the order of bytes, in which what begins with a text is one range.
 */
export const NAME_KEY = `lower("name") collate "C"`;
export const LAST_WORD_KEY = `lower(substring("name" from '[^ ]+$')) collate "C"`;
export const HAS_WORDS = `"name" like '% %'`;

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
  indexes: [
    { name: "customer_by_email", properties: ["workspace", "emailLower", "id"] },
    {
      name: "customer_by_name",
      expression: `create index "customer_by_name" on "customer" ("workspace_id", (${NAME_KEY}), "id")`,
    },
    {
      name: "customer_by_last_word",
      expression: `create index "customer_by_last_word" on "customer" ("workspace_id", (${LAST_WORD_KEY}), "id") where ${HAS_WORDS}`,
    },
  ],
  checks: [
    { name: "customer_name_given", expression: "name <> ''" },
    { name: "customer_email_lower", expression: "email_lower = lower(email) and email <> ''" },
  ],
});

export type Customer = InferEntity<typeof Customer>;

/** A customer as shipments have it. */
export type CustomerRow = Row<Customer, "workspace" | "emailLower" | "createdAt">;

const COLUMNS = columnsOf(Customer, "workspace", "emailLower", "createdAt");

/** What to select for a `CustomerRow`, as JSON, from the table or what stands for it. */
export function customerJson(table: string): string {
  return `json_build_object(${COLUMNS.map(({ property, name }) => `'${property}', ${table}.${name}`).join(", ")})`;
}

/** A customer as callers see it. */
export function customerMessage({
  id,
  name,
  email,
  idNumber,
}: Pick<Customer, keyof CustomerRow>): CustomerMessage {
  return {
    $typeName: "shipments.v1.Customer",
    id: BigInt(id),
    name,
    email,
    idNumber: idNumber ?? undefined,
  };
}
