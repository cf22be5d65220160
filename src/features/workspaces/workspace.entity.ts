import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A team account, which shipments, customers and API keys belong to. */
export const Workspace = defineEntity({
  name: "Workspace",
  tableName: "workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    createdAt: p.datetime(3),
  },
  checks: [{ name: "workspace_name_given", expression: "name <> ''" }],
});

export type Workspace = InferEntity<typeof Workspace>;
