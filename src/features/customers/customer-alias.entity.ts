import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Customer, customerJson } from "./customer.entity.ts";

/**
 * Redirects a merged customer's id, name and email to the surviving customer. If that customer is
 * merged too, its aliases are updated, so an alias always refers to an existing customer.
 */
export const CustomerAlias = defineEntity({
  name: "CustomerAlias",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Former id of the merged customer. */
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
    // `customer` maps to the columns of the workspace and the customer's id.
    { name: "customer_alias_of_customer", properties: ["customer"] },
  ],
});

export type CustomerAlias = InferEntity<typeof CustomerAlias>;

/**
 * Returns SQL for the customer of workspace `$1` into which another customer was merged.
 *
 * @param id SQL for the id of the merged customer
 * @param json columns of the customer, as returned by `customerJson`
 */
export function mergedWithId(id: string, json = customerJson("customer")): string {
  return `
    select ${json} as customer from customer_alias as alias
      join customer on customer.workspace_id = $1 and customer.id = alias.customer_id
    where alias.workspace_id = $1 and alias.id = ${id}`;
}

/**
 * Like `mergedWithId`, but by the name and email of the merged customer. If several match, the customer merged last is
 * used.
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
