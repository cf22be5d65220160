import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * The end of a workspace's event feed. Writers increase `position` before they insert events, which
 * locks the row until they commit. So positions have no gaps and are committed in order. Do both at
 * the end of a transaction, because other writers of the workspace have to wait.
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
