import { create } from "@bufbuild/protobuf";
import {
  CreateOperatorKeyResponseSchema,
  OperatorService,
  type CreateOperatorKeyRequestValid,
  type CreateOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { assertOwnOrOwner } from "./assert-own-or-owner.ts";
import { findToChange } from "./change-operator.ts";
import { addOperatorKey, MAX_OPERATOR_KEYS, workingKeysOf } from "./operator-keys.ts";
import { readOperator } from "./read-operator.ts";

/**
 * Gives an operator one more key.
 *
 * @returns the operator, and the new key, which no other call shows
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, ROLE_INSUFFICIENT when it is for another
 * operator and the caller is no owner, API_KEY_LIMIT
 */
export async function createOperatorKey(
  request: CreateOperatorKeyRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<CreateOperatorKeyResponse> {
  const { createOperatorKey: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    assertOwnOrOwner(call.caller, operator, "Keys of");
    const { id } = operator;
    if ((await workingKeysOf(tx, id)).length >= MAX_OPERATOR_KEYS) {
      const text = `The operator has ${MAX_OPERATOR_KEYS} keys that work, and no more fit: revoke one first.`;
      throw refuse("API_KEY_LIMIT", text, { subject: "api_key" });
    }
    const { name } = request;
    const key = await addOperatorKey(tx, id, name);
    const changes = changesBetween({}, { key: key.id, "key.name": name });
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    const data = await readOperator(tx, id);
    return create(CreateOperatorKeyResponseSchema, { data, operatorKey: key.secret });
  });
}
