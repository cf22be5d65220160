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
import { overlapSecondsOf } from "../credentials/overlap-seconds.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import { assertOwnOrOwner } from "./assert-own-or-owner.ts";
import { findToChange } from "./change-operator.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import {
  addOperatorKey,
  endOperatorKeys,
  MAX_OPERATOR_KEYS,
  pickOperatorKey,
  workingKeysOf,
} from "./operator-keys.ts";
import { readOperator } from "./read-operator.ts";

/**
 * Gives an operator a new key at once, in the place of one or of all. What it replaces ends after the
 * overlap, or when it was to end anyway, whichever is sooner. Where there would be more than
 * `MAX_OPERATOR_KEYS`, those that were to end first end at once.
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
  const overlapOf = ({ id }: OperatorKey) =>
    overlapSecondsOf(id, request.overlapSeconds, call.caller.keyId);
  return withIdempotency(em, method, request, call, async (tx) => {
    const operator = await findToChange(tx, request.operator);
    assertOwnOrOwner(call.caller, operator, "Keys of");
    const { id } = operator;
    const working = await workingKeysOf(tx, id);
    const old = request.key === undefined ? undefined : pickOperatorKey(working, request.key);
    const replaced = Map.groupBy(old === undefined ? working : [old], overlapOf);
    for (const [seconds, keys] of replaced) await endOperatorKeys(tx, keys, seconds);
    const goingOn = (await workingKeysOf(tx, id)).toSorted((a, b) => endMs(a) - endMs(b));
    const surplus = goingOn.slice(0, Math.max(0, goingOn.length - (MAX_OPERATOR_KEYS - 1)));
    await endOperatorKeys(tx, surplus, 0);
    const key = await addOperatorKey(tx, id, old?.name ?? null);
    const changes = changesBetween(
      { key: old?.id },
      { key: key.id, overlap_seconds: Math.max(0, ...replaced.keys()) },
    );
    recordChange(tx, call, { subject: `operator/${id}`, changes });
    const data = await readOperator(tx, id);
    return create(RotateOperatorKeyResponseSchema, { data, operatorKey: key.secret });
  });
}

/** When a key ends, in milliseconds since the epoch; of those that do not, the last moment there is. */
function endMs({ endsAt }: OperatorKey): number {
  return endsAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
