import {
  OperatorService,
  type CreateOperatorKeyRequestValid,
  type CreateOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween } from "../audit/record-change.ts";
import { assertSelfOrOwner, changeOperator } from "./operators.ts";
import { insertOperatorKey, loadWorkingKeys, MAX_OPERATOR_KEYS } from "./operator-keys.ts";

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
  { em }: DatabaseDeps,
): Promise<CreateOperatorKeyResponse> {
  const { createOperatorKey: method } = OperatorService.method;
  return changeOperator(em, method, request, call, async (tx, operator) => {
    assertSelfOrOwner(call.caller, operator, "Keys of");
    const { id } = operator;
    if ((await loadWorkingKeys(tx, id)).length >= MAX_OPERATOR_KEYS) {
      const text = `The operator has ${MAX_OPERATOR_KEYS} keys that work, and no more fit: revoke one first.`;
      throw refuse("API_KEY_LIMIT", text, { subject: "api_key" });
    }
    const { name } = request;
    const key = await insertOperatorKey(tx, id, name);
    const changes = changesBetween({}, { key: key.id, "key.name": name });
    return { changes, operatorKey: key.secret };
  });
}
