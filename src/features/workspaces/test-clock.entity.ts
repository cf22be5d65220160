import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "./workspace.entity.ts";

/** Clock of a test twin. A twin without a row uses real time. */
export const TestClock = defineEntity({
  name: "TestClock",
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** Time at which the clock is frozen. null if it follows real time again. */
    frozenAt: p.datetime(3).nullable(),
    /** Latest time that the clock has shown, which is the maximum date of test data. */
    latestAt: p.datetime(3),
    /** Real time of the last change. */
    movedAt: p.datetime(3),
  },
  indexes: [{ name: "test_clock_frozen", properties: ["movedAt"], where: "frozen_at is not null" }],
});

export type TestClock = InferEntity<typeof TestClock>;
