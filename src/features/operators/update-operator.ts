import {
  OperatorService,
  type UpdateOperatorRequestValid,
  type UpdateOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween } from "../audit/record-change.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { endSignInsOfOperator } from "../people/end-sign-ins.ts";
import {
  assertAnotherOwner,
  assertEmailFree,
  changeOperator,
  emailMissingError,
  roleOf,
} from "./operators.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Changes the name, email or role of an operator, as far as given; known on every replica within a
 * second.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, OPERATOR_EMAIL_TAKEN, OPERATOR_LAST_OWNER,
 * FIELD_INVALID for a person without an email
 */
export async function updateOperator(
  request: UpdateOperatorRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<UpdateOperatorResponse> {
  const { updateOperator: method } = OperatorService.method;
  return changeOperator(em, method, request, call, async (tx, operator) => {
    const { id, name, email = null, role, kind } = operator;
    if (request.email === "" && kind === "person") throw emailMissingError();
    const before = { name, email, role };
    const after = {
      name: request.name ?? name,
      email: request.email === "" ? null : (request.email ?? email),
      role: roleOf(request.role) ?? role,
    };
    const changes = changesBetween(before, after);
    if (changes.length === 0) return {};
    if (after.role !== "owner") await assertAnotherOwner(tx, operator);
    if (request.email) await assertEmailFree(tx, request.email, id);
    await tx.nativeUpdate(Operator, { id }, after);
    await evictKeys(tx, "operator_key", id);
    if (kind === "person" && email!.toLowerCase() !== after.email!.toLowerCase()) {
      await endSignInsOfOperator(tx, email!);
    }
    return { changes };
  });
}
