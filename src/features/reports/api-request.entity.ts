import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

export type RequestOutcome = "succeeded" | "refused" | "failed";

/** A call of a workspace that changed something or failed. Kept for 7 days, up to some thousands. */
export const ApiRequest = defineEntity({
  name: "ApiRequest",
  tableName: "api_request",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.bigint("number").primary().autoincrement(),
    startedAt: p.datetime(3),
    /** `CreateShipment` */
    method: p.text(),
    /** With the values of its parameters. null without parameters. */
    path: p.text().nullable(),
    outcome: p.text().$type<RequestOutcome>(),
    code: p.text(),
    /** 0 without a response. */
    httpStatus: p.integer(),
    durationMs: p.integer(),
    requestId: p.text(),
    reason: p.text().nullable(),
    message: p.text().nullable(),
    /** Name or last four characters of the key, or the email of a person. */
    caller: p.text(),
  },
  // Across workspaces, for the purge.
  indexes: [{ name: "api_request_by_age", properties: ["startedAt"] }],
});

export type ApiRequest = InferEntity<typeof ApiRequest>;
