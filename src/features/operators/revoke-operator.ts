import { sql } from "@mikro-orm/postgresql";
import {
  OperatorService,
  type RevokeOperatorRequestValid,
  type RevokeOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween } from "../audit/record-change.ts";
import { expireKeys } from "../credentials/secret-keys.ts";
import { endSignInsOfOperator } from "../people/end-sign-ins.ts";
import { assertAnotherOwner, changeOperator } from "./operators.ts";
import { loadWorkingKeys } from "./operator-keys.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Ends all keys, sessions and links of an operator, for good; known on every replica within a second.
 * Its email is free for others.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, OPERATOR_LAST_OWNER
 */
export async function revokeOperator(
  request: RevokeOperatorRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RevokeOperatorResponse> {
  const { revokeOperator: method } = OperatorService.method;
  return changeOperator(em, method, request, call, async (tx, operator) => {
    await assertAnotherOwner(tx, operator);
    const { id, kind, email } = operator;
    await tx.nativeUpdate(Operator, { id }, { revokedAt: sql`now()` });
    await expireKeys(tx, "operator_key", await loadWorkingKeys(tx, id), 0);
    if (kind === "person") await endSignInsOfOperator(tx, email!);
    await tx.refresh(operator);
    return { changes: changesBetween({}, { revoked_at: operator.revokedAt }) };
  });
}
