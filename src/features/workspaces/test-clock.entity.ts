import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

/** The clock of a test twin that was ever moved; the time of any other is the real one. */
export const TestClock = defineEntity({
  name: "TestClock",
  tableName: "test_clock",
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** The time at which it stands; null while it follows the real time again. */
    frozenAt: p.datetime(3).nullable(),
    /** The latest time that it ever showed: test data is dated up to that. */
    latestAt: p.datetime(3),
    /** When it was last moved, in real time. */
    movedAt: p.datetime(3),
  },
  indexes: [{ name: "test_clock_frozen", properties: ["movedAt"], where: "frozen_at is not null" }],
});

export type TestClock = InferEntity<typeof TestClock>;
