import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** The response to a call with an idempotency key, written in the transaction of the call's effect. */
export const StoredResponse = defineEntity({
  name: "StoredResponse",
  tableName: "kept_answer",
  primaryKeys: ["workspace", "key"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    key: p.text().primary(),
    /** Full method name, such as `shipments.v1.ShipmentService/CreateShipment`. */
    method: p.text(),
    requestDigest: p.text(),
    /** Binary response message. Sealed if the message contains a secret. */
    response: p.blob(),
    createdAt: p.datetime(3).index("kept_answer_by_age"),
  },
  checks: [{ name: "kept_answer_key_form", expression: "key ~ '^[!-~]{1,255}$'" }],
});

export type StoredResponse = InferEntity<typeof StoredResponse>;
