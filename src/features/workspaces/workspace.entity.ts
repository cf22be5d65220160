import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A team account, which shipments, customers and API keys belong to. */
export const Workspace = defineEntity({
  name: "Workspace",
  tableName: "workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    createdAt: p.datetime(3),
    /** Since when its calls are refused; null while they are not. */
    suspendedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: "workspace_by_name", properties: ["name", "id"] }],
  checks: [{ name: "workspace_name_given", expression: "name <> ''" }],
});

export type Workspace = InferEntity<typeof Workspace>;
