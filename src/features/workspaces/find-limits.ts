import type { EntityManager } from "../../db/orm.ts";
import { DEFAULT_LIMITS, type RateLimits } from "../../domain/rate-limit.ts";
import { WorkspaceLimit } from "./workspace-limit.entity.ts";

/** The rate limits of a workspace for each class of methods: its own, else the default. */
export async function findLimits(em: EntityManager, workspace: number): Promise<RateLimits> {
  const own = await em.find(WorkspaceLimit, { workspace });
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(
      own.map(({ limitClass, rate, burst }) => [limitClass, { rate, burst }] as const),
    ),
  };
}
