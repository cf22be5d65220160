import type { DescMethod } from "@bufbuild/protobuf";
import { DEFAULT_LIMITS, OPERATOR_LIMITS } from "../domain/rate-limit.ts";
import { readCallHeaders } from "./call-headers.ts";
import {
  admitCall,
  type Call,
  receiveCall,
  type OperatorCall,
  type OperatorCaller,
} from "./call.ts";

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

/**
 * A call of the service itself in a workspace, which nobody has asked for.
 *
 * @param test whether that is a test twin
 */
export function localWorkspaceCall(workspaceId: number, test = false): Call {
  const received = receiveCall(readCallHeaders([]), {});
  return admitCall(received, "", {
    audience: "workspace",
    account: workspaceId,
    workspaceId,
    limits: DEFAULT_LIMITS,
    suspended: false,
    test,
    keyId: undefined,
    keyName: undefined,
    keyScope: undefined,
    member: undefined,
  });
}
