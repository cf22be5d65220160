import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Customer } from "./customer.entity.ts";

/** Name of the figure that contains the booking time of the newest shipment, in milliseconds since the epoch. */
export const LAST_BOOKED_AT = "last_booked_at";

/**
 * A figure of a customer by which lists are sorted. Its name is `LAST_BOOKED_AT`, or a currency code for the sum of the
 * paid shipments in that currency, in minor units. `CustomerRollUp` records which shipments are counted. Customers
 * without shipments have no rows.
 */
export const CustomerFigure = defineEntity({
  name: "CustomerFigure",
  primaryKeys: ["workspace", "customer", "name"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    customer: () =>
      p
        .manyToOne(Customer)
        .primary()
        .joinColumns("workspace_id", "customer_id")
        .ownColumns("customer_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    name: p.text().primary(),
    value: p.bigint("number"),
  },
  indexes: [
    {
      name: "customer_figure_by_value",
      expression: `create index "customer_figure_by_value" on "customer_figure" ("workspace_id", "name", "value", "customer_id")`,
    },
  ],
});

export type CustomerFigure = InferEntity<typeof CustomerFigure>;
