import { userInfo } from "node:os";
import type { DescMethod } from "@bufbuild/protobuf";
import type { OperatorCall } from "../pipeline/call.ts";
import { localCall } from "../pipeline/local-call.ts";

/** A call of an operator's RPC by this command, in the name of the account that runs it. */
export function commandLineCall(method: DescMethod): OperatorCall {
  return localCall(method, "command_line", accountName());
}

/** The name of the account, or its number when the machine knows no name for it. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
