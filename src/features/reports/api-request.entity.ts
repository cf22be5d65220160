import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

export type RequestOutcome = "succeeded" | "refused" | "failed";

/** A call of a workspace's that changed something or did not succeed. Kept for 7 days, and no more than some thousands. */
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
    /** With the values of its parameters; null if it has none. */
    path: p.text().nullable(),
    outcome: p.text().$type<RequestOutcome>(),
    code: p.text(),
    /** 0 without an answer. */
    httpStatus: p.integer(),
    durationMs: p.integer(),
    requestId: p.text(),
    reason: p.text().nullable(),
    message: p.text().nullable(),
    /** The name or the last four characters of the key; the email of a person. */
    caller: p.text(),
  },
  // Of all workspaces, for what is too old.
  indexes: [{ name: "api_request_by_age", properties: ["startedAt"] }],
});

export type ApiRequest = InferEntity<typeof ApiRequest>;
