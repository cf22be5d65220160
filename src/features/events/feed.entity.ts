import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * The end of a workspace's event feed. Writers increase `position` before they insert events, which locks the row until
 * they commit. Positions therefore have no gaps and are committed in order. Do both at the end of a transaction,
 * because other writers of the workspace must wait.
 */
export const Feed = defineEntity({
  name: "Feed",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Position of the newest event. 0 if there is none. */
    position: p.bigint("number").default(0),
    changedAt: p.datetime(3),
  },
});

export type Feed = InferEntity<typeof Feed>;
