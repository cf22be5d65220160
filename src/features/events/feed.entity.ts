import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * The end of a workspace's feed. Writers of events raise the position first, which locks the row
 * until the commit. So positions have no gaps and are committed in order. Make it the last
 * statement of a transaction, because other writers of the workspace wait for it.
 */
export const Feed = defineEntity({
  name: "Feed",
  tableName: "feed",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Position of the newest event. 0 before the first. */
    position: p.bigint("number").default(0),
    changedAt: p.datetime(3),
  },
});

export type Feed = InferEntity<typeof Feed>;
