import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** Like `StoredResponse`, for calls by operators. */
export const OperatorStoredResponse = defineEntity({
  name: "OperatorStoredResponse",
  primaryKeys: ["operator", "key"],
  properties: {
    operator: p.bigint("number").primary(),
    key: p.text().primary(),
    /** Full method name, such as `shipments.admin.v1.TariffService/PublishTariff`. */
    method: p.text(),
    requestDigest: p.text(),
    /** Binary response message. Sealed if the message contains a secret. */
    response: p.blob(),
    createdAt: p.datetime(3).index("operator_stored_response_by_age"),
  },
  checks: [{ name: "operator_stored_response_key_form", expression: "key ~ '^[!-~]{1,255}$'" }],
});

export type OperatorStoredResponse = InferEntity<typeof OperatorStoredResponse>;
