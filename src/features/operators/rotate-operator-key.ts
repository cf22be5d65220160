import { create } from "@bufbuild/protobuf";
import {
  OperatorService,
  RotateOperatorKeyResponseSchema,
  type RotateOperatorKeyRequestValid,
  type RotateOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { findToChange } from "./find-operator.ts";
import {
  addOperatorKey,
  endOperatorKeys,
  MAX_OPERATOR_KEYS,
  workingKeysOf,
} from "./operator-keys.ts";
import { readOperator } from "./read-operator.ts";

/**
 * Gives an operator a new key at once. The others end after the overlap, or when they were to end
 * anyway, whichever is sooner; the oldest end at once where there would be more than
 * `MAX_OPERATOR_KEYS`.
 *
 * @returns the operator, and the new key, which no other call shows
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED
 */
export async function rotateOperatorKey(
  request: RotateOperatorKeyRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<RotateOperatorKeyResponse> {
  const { overlapSeconds = 0 } = request;
  const { rotateOperatorKey: method } = OperatorService.method;
  return withIdempotency(em, method, request, call, async (tx) => {
    const { id } = await findToChange(tx, request.operator);
    const older = await workingKeysOf(tx, id);
    const surplus = older.splice(0, Math.max(0, older.length - (MAX_OPERATOR_KEYS - 1)));
    await endOperatorKeys(tx, surplus, 0);
    await endOperatorKeys(tx, older, overlapSeconds);
    const key = await addOperatorKey(tx, id);
    const changes = changesBetween({}, { key: key.id, overlap_seconds: overlapSeconds });
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    const data = await readOperator(tx, id);
    return create(RotateOperatorKeyResponseSchema, { data, operatorKey: key.secret });
  });
}
