import type { DescMethod } from "@bufbuild/protobuf";
import { DEFAULT_LIMITS, OPERATOR_LIMITS } from "../domain/rate-limit.ts";
import { readCallHeaders } from "./call-headers.ts";
import {
  admitCall,
  type Call,
  receiveCall,
  type OperatorCall,
  type OperatorCaller,
  type WorkspaceCaller,
} from "./call.ts";

/** Creates an operator call with all permissions. Its caller has direct access to the database. */
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

export function localWorkspaceCall(
  workspaceId: number,
  own: Partial<Pick<WorkspaceCaller, "test" | "trackingUrlOf" | "notifiesRecipients">> = {},
): Call {
  const received = receiveCall(readCallHeaders([]), {});
  return admitCall(received, "", {
    audience: "workspace",
    account: workspaceId,
    workspaceId,
    limits: DEFAULT_LIMITS,
    suspended: false,
    test: false,
    keyId: undefined,
    key: undefined,
    keyScope: undefined,
    member: undefined,
    trackingUrlOf: undefined,
    notifiesRecipients: false,
    ...own,
  });
}
