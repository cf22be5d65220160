import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { DEFAULT_LIMITS, LIMIT_CLASSES, type LimitClass, type RateLimits } from "../../domain/rate-limit.ts";
import { Workspace } from "./workspace.entity.ts";

/** A workspace's rate limit for one class of methods. The default applies if there is no row. */
export const WorkspaceLimit = defineEntity({
  name: "WorkspaceLimit",
  primaryKeys: ["workspace", "limitClass"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    limitClass: p.text().$type<LimitClass>().primary(),
    rate: p.integer(),
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

/** Loads the rate limits of a workspace, with defaults for classes without a row. */
export async function findLimits(em: EntityManager, workspace: number): Promise<RateLimits> {
  const own = await em.find(WorkspaceLimit, { workspace });
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(own.map(({ limitClass, rate, burst }) => [limitClass, { rate, burst }] as const)),
  };
}
