import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * How far the feed of a workspace has come. Whoever writes events raises the position first, which locks
 * the row until the commit: so positions have no gaps, and are committed in their order. Let it be the last
 * statement of a transaction, as others of the workspace wait for it.
 */
export const Feed = defineEntity({
  name: "Feed",
  tableName: "feed",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** The position of the newest event; 0 before the first. */
    position: p.bigint("number").default(0),
    changedAt: p.datetime(3),
  },
});

export type Feed = InferEntity<typeof Feed>;
