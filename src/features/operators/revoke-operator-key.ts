import {
  OperatorService,
  type RevokeOperatorKeyRequestValid,
  type RevokeOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween } from "../audit/record-change.ts";
import { assertNotLast, expireKeys, pickKey } from "../credentials/secret-keys.ts";
import { assertSelfOrOwner, changeOperator } from "./operators.ts";
import { loadWorkingKeys } from "./operator-keys.ts";

/**
 * Revokes one key of an operator at once; known on every replica within a second.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, ROLE_INSUFFICIENT when it is another
 * operator's and the caller is no owner, API_KEY_NOT_FOUND, API_KEY_LAST for the last one that works,
 * or that is not to end, of a machine that calls for itself
 */
export async function revokeOperatorKey(
  request: RevokeOperatorKeyRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RevokeOperatorKeyResponse> {
  const { revokeOperatorKey: method } = OperatorService.method;
  return changeOperator(em, method, request, call, async (tx, operator) => {
    assertSelfOrOwner(call.caller, operator, "Keys of");
    const { id, kind } = operator;
    const working = await loadWorkingKeys(tx, id);
    const key = pickKey(working, request.key);
    if (kind === "machine" && call.caller.operatorId === id) {
      assertNotLast(key, working, "of yours");
    }
    await expireKeys(tx, "operator_key", [key], 0);
    return { changes: changesBetween({ key: key.id }, {}) };
  });
}
