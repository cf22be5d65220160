import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Person } from "./person.entity.ts";

/** A person's named view of a workspace's shipment list. */
export const SavedFilter = defineEntity({
  name: "SavedFilter",
  properties: {
    id: p.bigint("number").autoincrement().primary(),
    workspace: () => p.manyToOne(Workspace).mapToPk().deleteRule("cascade"),
    person: () => p.manyToOne(Person).mapToPk(),
    name: p.text(),
    /** URL query string of the list page. */
    query: p.text(),
    /** Whether all members of the workspace see the filter. */
    shared: p.boolean().default(false),
  },
  indexes: [
    {
      name: "saved_filter_shared",
      expression: `create index "saved_filter_shared" on "saved_filter" ("workspace_id", (lower("name"))) where "shared"`,
    },
    {
      name: "saved_filter_name",
      expression: `create unique index "saved_filter_name" on "saved_filter" ("person_id", "workspace_id", (lower("name")))`,
    },
  ],
});

export type SavedFilter = InferEntity<typeof SavedFilter>;
