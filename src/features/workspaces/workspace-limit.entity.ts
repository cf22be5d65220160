import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { LIMIT_CLASSES, type LimitClass } from "../../domain/rate-limit.ts";
import { Workspace } from "./workspace.entity.ts";

/** A workspace's rate limit for one class of methods; without a row the default applies. */
export const WorkspaceLimit = defineEntity({
  name: "WorkspaceLimit",
  tableName: "workspace_limit",
  primaryKeys: ["workspace", "limitClass"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    limitClass: p.text().$type<LimitClass>().primary(),
    /** Calls a second. */
    rate: p.integer(),
    /** Calls at once after a rest. */
    burst: p.integer(),
  },
  checks: [
    {
      name: "workspace_limit_class",
      expression: `limit_class in (${LIMIT_CLASSES.map((it) => `'${it}'`).join(", ")})`,
    },
    {
      name: "workspace_limit_in_range",
      expression: "rate >= 1 and rate <= 1000000 and burst >= 1 and burst <= 1000000",
    },
  ],
});

export type WorkspaceLimit = InferEntity<typeof WorkspaceLimit>;
