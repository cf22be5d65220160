import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { LIMIT_CLASSES } from "../../domain/rate-limit.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Classes of counted calls. `preview` calls price a form that is being filled in. They count as quotes for rate limits
 * but not in reports.
 */
export const USAGE_CLASSES = [...LIMIT_CLASSES, "preview"] as const;

export type UsageClass = (typeof USAGE_CLASSES)[number];

/** Number of calls by a workspace in an hour, for one class. Kept for 100 days. */
export const UsageHour = defineEntity({
  name: "UsageHour",
  primaryKeys: ["workspace", "hour", "limitClass"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** Start of the hour in UTC, by the database's clock. */
    hour: p.datetime(0).primary(),
    limitClass: p.text().$type<UsageClass>().primary(),
    calls: p.bigint("number"),
    /**
     * Number of calls in the second, third and fourth quarter of the hour. All other calls were in the first quarter.
     * Reports need quarters, because in some time zones, such as Kathmandu's, days begin in the middle of an hour of
     * UTC.
     */
    secondQuarter: p.bigint("number").default(0),
    thirdQuarter: p.bigint("number").default(0),
    fourthQuarter: p.bigint("number").default(0),
  },
  // Index for platform totals and the purge, which read all workspaces.
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
