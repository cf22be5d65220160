import { create } from "@bufbuild/protobuf";
import {
  OperatorService,
  RevokeOperatorKeyResponseSchema,
  type RevokeOperatorKeyRequestValid,
  type RevokeOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { lastKeyThat } from "../credentials/last-key.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { assertOwnOrOwner } from "./assert-own-or-owner.ts";
import { findToChange } from "./change-operator.ts";
import { endOperatorKeys, pickOperatorKey, workingKeysOf } from "./operator-keys.ts";
import { readOperator } from "./read-operator.ts";

/**
 * Ends one key of an operator at once; known on every replica within a second.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, ROLE_INSUFFICIENT when it is another
 * operator's and the caller is no owner, API_KEY_NOT_FOUND, API_KEY_LAST for the last one that works,
 * or that is not to end, of a machine that calls for itself
 */
export async function revokeOperatorKey(
  request: RevokeOperatorKeyRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<RevokeOperatorKeyResponse> {
  const { revokeOperatorKey: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    assertOwnOrOwner(call.caller, operator, "Keys of");
    const { id, kind } = operator;
    const working = await workingKeysOf(tx, id);
    const key = pickOperatorKey(working, request.key);
    const which = lastKeyThat(key, working);
    if (kind === "machine" && call.caller.operatorId === id && which !== undefined) {
      const text = `This is the last key of yours that ${which}; create another first.`;
      throw refuse("API_KEY_LAST", text, { subject: "api_key" });
    }
    await endOperatorKeys(tx, [key], 0);
    const changes = changesBetween({ key: key.id }, {});
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    return create(RevokeOperatorKeyResponseSchema, { data: await readOperator(tx, id) });
  });
}
