import { create } from "@bufbuild/protobuf";
import {
  OperatorService,
  UpdateOperatorResponseSchema,
  type UpdateOperatorRequestValid,
  type UpdateOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { evictKeys } from "../credentials/secret-keys.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { endSignInsOfOperator } from "../people/end-sign-ins.ts";
import { findToChange } from "./change-operator.ts";
import { assertAnotherOwner } from "./last-owner.ts";
import { assertEmailFree, emailMissingError } from "./operator-email.ts";
import { roleOf } from "./operator-message.ts";
import { Operator } from "./operator.entity.ts";
import { readOperator } from "./read-operator.ts";

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
  em: EntityManager,
): Promise<UpdateOperatorResponse> {
  const { updateOperator: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    const { id, name, email, role, kind } = operator;
    if (request.email === "" && kind === "person") throw emailMissingError();
    const before = { name, email: email ?? null, role };
    const after = {
      name: request.name ?? before.name,
      email: request.email === "" ? null : (request.email ?? before.email),
      role: roleOf(request.role) ?? before.role,
    };
    const changes = changesBetween(before, after);
    if (changes.length > 0) {
      if (after.role !== "owner") await assertAnotherOwner(tx, operator);
      if (request.email) await assertEmailFree(tx, request.email, id);
      await tx.nativeUpdate(Operator, { id }, after);
      await evictKeys(tx, "operator_key", id);
      if (operator.kind === "person" && email!.toLowerCase() !== after.email!.toLowerCase()) {
        await endSignInsOfOperator(tx, email!);
      }
      recordChange(tx, call, { subject: `operator/${id}`, changes });
    }
    return create(UpdateOperatorResponseSchema, { data: await readOperator(tx, id) });
  });
}
