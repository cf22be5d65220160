import type { DescMethod } from "@bufbuild/protobuf";
import { OPERATOR_LIMITS } from "../domain/rate-limit.ts";
import { readCallHeaders } from "./call-headers.ts";
import { admitCall, receiveCall, type OperatorCall, type OperatorCaller } from "./call.ts";

/**
 * A call of an operator's RPC that comes in by no server: from the command line, or by the service
 * itself. Whoever can make one has the database, so it may do everything.
 *
 * @param name who makes it, for the audit log
 */
export function localCall(
  method: DescMethod,
  actor: Exclude<OperatorCaller["actor"], "operator">,
  name: string,
): OperatorCall {
  const received = receiveCall(readCallHeaders([]), {});
  return admitCall(received, `${method.parent.typeName}/${method.name}`, {
    audience: "operator",
    account: actor,
    actor,
    operatorId: undefined,
    keyId: undefined,
    name,
    role: "owner",
    limits: OPERATOR_LIMITS,
  });
}
