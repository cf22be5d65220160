import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

export type RequestOutcome = "succeeded" | "refused" | "failed";

/** A workspace's request that was a write or failed. Kept for 7 days, up to about 10,000 per workspace. */
export const ApiRequest = defineEntity({
  name: "ApiRequest",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.bigint("number").primary().autoincrement(),
    startedAt: p.datetime(3),
    /** Name of the method, such as `CreateShipment`. */
    method: p.text(),
    /** Path with parameter values. null if the path has no parameters. */
    path: p.text().nullable(),
    outcome: p.text().$type<RequestOutcome>(),
    code: p.text(),
    /** Status of the response. 0 if no response was sent. */
    httpStatus: p.integer(),
    durationMs: p.integer(),
    requestId: p.text(),
    reason: p.text().nullable(),
    message: p.text().nullable(),
    /** Name or last four characters of the API key, or email of the member. */
    caller: p.text(),
  },
  // Index for the purge, which reads all workspaces.
  indexes: [{ name: "api_request_by_age", properties: ["startedAt"] }],
});

export type ApiRequest = InferEntity<typeof ApiRequest>;
