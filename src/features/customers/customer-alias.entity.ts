import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Customer, customerJson } from "./customer.entity.ts";

/**
 * A customer that was merged into another one, which its id, and its name and email, stand for from then on.
 * Refers to a customer that there is: what is merged again takes its aliases along.
 */
export const CustomerAlias = defineEntity({
  name: "CustomerAlias",
  tableName: "customer_alias",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** The id of the customer that was merged. */
    id: p.bigint("number").primary(),
    name: p.text(),
    emailLower: p.text(),
    customer: () =>
      p
        .manyToOne(Customer)
        .joinColumns("workspace_id", "customer_id")
        .ownColumns("customer_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    mergedAt: p.datetime(3),
  },
  indexes: [
    {
      name: "customer_alias_by_name",
      properties: ["workspace", "name", "emailLower", "mergedAt", "id"],
    },
    // The customer's key begins with the workspace.
    { name: "customer_alias_of_customer", properties: ["customer"] },
  ],
});

export type CustomerAlias = InferEntity<typeof CustomerAlias>;

/** Of the workspace `$1`, the ids of the customers that those with the id `$2` were merged into. */
export const ALIAS_BY_ID = `
  select customer_id::float8 as id from customer_alias where workspace_id = $1 and id = $2`;

/** The same by the name `$2` and the email `$3`, in lower case; the one that was merged last comes first. */
export const ALIAS_BY_NAME = `
  select customer_id::float8 as id from customer_alias
  where workspace_id = $1 and name = $2 and email_lower = $3
  order by merged_at desc, id desc limit 1`;

/**
 * Of the workspace `$1`, the customer that another one was merged into.
 *
 * @param id SQL for the id of the other one
 * @param json what to select of the customer, as `customerJson` gives it
 */
export function mergedWithId(id: string, json = customerJson("customer")): string {
  return `
    select ${json} as customer from customer_alias as alias
      join customer on customer.workspace_id = $1 and customer.id = alias.customer_id
    where alias.workspace_id = $1 and alias.id = ${id}`;
}

/**
 * The same by the name and the email of the other one; of several that had them, the one that was merged last.
 *
 * @param email SQL for the email in lower case
 */
export function mergedWithName(name: string, email: string): string {
  return `
    select ${customerJson("customer")} as customer from customer_alias as alias
      join customer on customer.workspace_id = $1 and customer.id = alias.customer_id
    where alias.workspace_id = $1 and alias.name = ${name} and alias.email_lower = ${email}
    order by alias.merged_at desc, alias.id desc limit 1`;
}
