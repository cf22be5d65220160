import { sql } from "@mikro-orm/postgresql";
import {
  OperatorService,
  type CreateOperatorRequestValid,
  type CreateOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import {
  assertEmailFree,
  emailMissingError,
  lockOperators,
  kindOf,
  loadOperatorMessage,
  roleOf,
} from "./operators.ts";
import { insertOperatorKey } from "./operator-keys.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Creates an operator with its first key.
 *
 * @returns the operator, and its key, which no other call shows
 * @throws Refusal FIELD_INVALID for a person without an email, OPERATOR_EMAIL_TAKEN
 */
export async function createOperator(
  request: CreateOperatorRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<CreateOperatorResponse> {
  const { name, email } = request;
  const [kind, role] = [kindOf(request.kind), roleOf(request.role)!];
  if (kind === "person" && email === undefined) throw emailMissingError();
  const { createOperator: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    await lockOperators(tx);
    if (email !== undefined) await assertEmailFree(tx, email);
    const properties = { name, email: email ?? null, kind, role };
    // The driver gives a new id as text.
    const id = Number(await tx.insert(Operator, { ...properties, createdAt: sql`now()` }));
    const key = await insertOperatorKey(tx, id);
    const changes = changesBetween({}, { ...properties, key: key.id });
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    return { data: await loadOperatorMessage(tx, id), operatorKey: key.secret };
  });
}
