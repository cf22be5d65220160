import { create } from "@bufbuild/protobuf";
import { sql } from "@mikro-orm/postgresql";
import {
  OperatorService,
  RevokeOperatorResponseSchema,
  type RevokeOperatorRequestValid,
  type RevokeOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { endSignInsOfOperator } from "../people/end-sign-ins.ts";
import { findToChange } from "./change-operator.ts";
import { assertAnotherOwner } from "./last-owner.ts";
import { endOperatorKeys, workingKeysOf } from "./operator-keys.ts";
import { Operator } from "./operator.entity.ts";
import { readOperator } from "./read-operator.ts";

/**
 * Ends all keys, sessions and links of an operator, for good; known on every replica within a second.
 * Its email is free for others.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, OPERATOR_LAST_OWNER
 */
export async function revokeOperator(
  request: RevokeOperatorRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<RevokeOperatorResponse> {
  const { revokeOperator: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    await assertAnotherOwner(tx, operator);
    const { id, kind, email } = operator;
    await tx.nativeUpdate(Operator, { id }, { revokedAt: sql`now()` });
    await endOperatorKeys(tx, await workingKeysOf(tx, id), 0);
    if (kind === "person") await endSignInsOfOperator(tx, email!);
    const data = await readOperator(tx, id);
    const revokedAt = (await tx.findOneOrFail(Operator, id)).revokedAt;
    const changes = changesBetween({}, { revoked_at: revokedAt });
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    return create(RevokeOperatorResponseSchema, { data });
  });
}
