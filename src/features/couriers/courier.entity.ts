import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** A courier of a workspace. */
export const CourierProfile = defineEntity({
  name: "CourierProfile",
  tableName: "courier",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    name: p.text(),
    /** Phone number in E.164. */
    phone: p.text().nullable(),
    email: p.text().nullable(),
    vehicle: p.text().nullable(),
    /** Id of the courier in the caller's system. */
    externalId: p.text().nullable(),
    locale: p.text().nullable(),
    note: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    /** null if the courier is not archived. */
    archivedAt: p.datetime(3).nullable(),
    /** Version, incremented by each change. Used as the etag. */
    version: p.integer().version(),
  },
  indexes: [
    { name: "courier_by_creation", properties: ["workspace", "createdAt", "id"] },
    {
      name: "courier_external_id",
      expression: `create unique index "courier_external_id" on "courier" ("workspace_id", "external_id") where "archived_at" is null`,
    },
  ],
});

export type CourierProfile = InferEntity<typeof CourierProfile>;
