import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

/** Clock of a test twin. Test twins without a row use real time. */
export const TestClock = defineEntity({
  name: "TestClock",
  tableName: "test_clock",
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** Time at which the clock is frozen. Null if it follows real time again. */
    frozenAt: p.datetime(3).nullable(),
    /** Latest time the clock has shown, the maximum date of test data. */
    latestAt: p.datetime(3),
    /** Time of the last change, in real time. */
    movedAt: p.datetime(3),
  },
  indexes: [{ name: "test_clock_frozen", properties: ["movedAt"], where: "frozen_at is not null" }],
});

export type TestClock = InferEntity<typeof TestClock>;
