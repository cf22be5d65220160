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
import { assertOwnOrOwner } from "./assert-own-or-owner.ts";
import { findToChange } from "./find-operator.ts";
import {
  addOperatorKey,
  endOperatorKeys,
  MAX_OPERATOR_KEYS,
  pickOperatorKey,
  workingKeysOf,
} from "./operator-keys.ts";
import { readOperator } from "./read-operator.ts";

/** As of a workspace's key (`rotateApiKey`): the key of the call alone opens the stored response. */
const OVERLAP_OF_CURRENT_SECONDS = 600;

/**
 * Gives an operator a new key at once, in the place of one or of all. What it replaces ends after the
 * overlap, or when it was to end anyway, whichever is sooner; the oldest end at once where there would
 * be more than `MAX_OPERATOR_KEYS`.
 *
 * @returns the operator, and the new key, which no other call shows
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, ROLE_INSUFFICIENT when it is for another
 * operator and the caller is no owner, API_KEY_NOT_FOUND
 */
export async function rotateOperatorKey(
  request: RotateOperatorKeyRequestValid,
  call: OperatorCall,
  em: EntityManager,
): Promise<RotateOperatorKeyResponse> {
  const { rotateOperatorKey: method } = OperatorService.method;
  const isCurrent = request.key !== undefined && request.key === call.caller.keyId;
  const { overlapSeconds = isCurrent ? OVERLAP_OF_CURRENT_SECONDS : 0 } = request;
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    assertOwnOrOwner(call.caller, operator, "Keys of");
    const { id } = operator;
    const working = await workingKeysOf(tx, id);
    const old = request.key === undefined ? undefined : pickOperatorKey(working, request.key);
    await endOperatorKeys(tx, old === undefined ? working : [old], overlapSeconds);
    const goingOn = await workingKeysOf(tx, id);
    const surplus = goingOn.slice(0, Math.max(0, goingOn.length - (MAX_OPERATOR_KEYS - 1)));
    await endOperatorKeys(tx, surplus, 0);
    const key = await addOperatorKey(tx, id, old?.name ?? null);
    const changes = changesBetween(
      { key: old?.id },
      { key: key.id, overlap_seconds: overlapSeconds },
    );
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    const data = await readOperator(tx, id);
    return create(RotateOperatorKeyResponseSchema, { data, operatorKey: key.secret });
  });
}
