import {
  OperatorService,
  type RotateOperatorKeyRequestValid,
  type RotateOperatorKeyResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { changesBetween } from "../audit/record-change.ts";
import { expireKeys, overlapSecondsOf, pickKey } from "../credentials/secret-keys.ts";
import { assertSelfOrOwner, changeOperator } from "./operators.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import { insertOperatorKey, loadWorkingKeys, MAX_OPERATOR_KEYS } from "./operator-keys.ts";

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
  { em }: DatabaseDeps,
): Promise<RotateOperatorKeyResponse> {
  const { rotateOperatorKey: method } = OperatorService.method;
  const overlapOf = ({ id }: OperatorKey) =>
    overlapSecondsOf(id, request.overlapSeconds, call.caller.keyId);
  return changeOperator(em, method, request, call, async (tx, operator) => {
    assertSelfOrOwner(call.caller, operator, "Keys of");
    const { id } = operator;
    const working = await loadWorkingKeys(tx, id);
    const old = request.key === undefined ? undefined : pickKey(working, request.key);
    const replaced = Map.groupBy(old === undefined ? working : [old], overlapOf);
    for (const [seconds, keys] of replaced) await expireKeys(tx, "operator_key", keys, seconds);
    const goingOn = (await loadWorkingKeys(tx, id)).toSorted((a, b) => endMs(a) - endMs(b));
    await expireKeys(tx, "operator_key", goingOn.slice(0, 1 - MAX_OPERATOR_KEYS), 0);
    const key = await insertOperatorKey(tx, id, old?.name ?? null);
    const changes = changesBetween(
      { key: old?.id },
      { key: key.id, overlap_seconds: Math.max(0, ...replaced.keys()) },
    );
    return { changes, operatorKey: key.secret };
  });
}

/** When a key ends, in milliseconds since the epoch; of those that do not, the last moment there is. */
function endMs({ endsAt }: OperatorKey): number {
  return endsAt?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
