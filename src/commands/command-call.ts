import { userInfo } from "node:os";
import type { DescMethod } from "@bufbuild/protobuf";
import type { OperatorCall } from "../pipeline/call.ts";
import { localCall } from "../pipeline/local-call.ts";

/** The call of a method by a command, in the name of who runs it on this machine. */
export function commandCall(method: DescMethod): OperatorCall {
  return localCall(method, "command_line", userName());
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // An account without a name, as in some containers.
    return "unknown";
  }
}
