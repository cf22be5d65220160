import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { LIMIT_CLASSES } from "../../domain/rate-limit.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Prices that pages ask for while somebody fills in a form count as quotes for limits, but are none in reports. */
export const USAGE_CLASSES = [...LIMIT_CLASSES, "preview"] as const;

export type UsageClass = (typeof USAGE_CLASSES)[number];

/** How many calls of a class a workspace made in an hour. Kept for 100 days. */
export const UsageHour = defineEntity({
  name: "UsageHour",
  tableName: "usage_hour",
  primaryKeys: ["workspace", "hour", "limitClass"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** When it began, by the database's clock. */
    hour: p.datetime(0).primary(),
    limitClass: p.text().$type<UsageClass>().primary(),
    calls: p.bigint("number"),
    /**
     * How many of the calls were in the second, third and fourth quarter of the hour; the rest were in the first. Days
     * of a time zone such as that of Kathmandu begin within an hour.
     */
    secondQuarter: p.bigint("number").default(0),
    thirdQuarter: p.bigint("number").default(0),
    fourthQuarter: p.bigint("number").default(0),
  },
  // Of all workspaces, for what the platform did and for what is too old.
  indexes: [{ name: "usage_hour_by_hour", properties: ["hour"] }],
  checks: [
    {
      name: "usage_hour_class",
      expression: `limit_class in (${USAGE_CLASSES.map((it) => `'${it}'`).join(", ")})`,
    },
    { name: "usage_hour_whole", expression: "extract(epoch from hour)::bigint % 3600 = 0" },
    { name: "usage_hour_calls_counted", expression: "calls >= 1" },
  ],
});

export type UsageHour = InferEntity<typeof UsageHour>;
