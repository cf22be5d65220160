import { DEFAULT_LIMITS } from "../../src/domain/rate-limit.ts";
import { readCallHeaders } from "../../src/pipeline/call-headers.ts";
import { receivedCall, type Call } from "../../src/pipeline/call.ts";

/** A call of a workspace, as the pipeline makes it, for functions that a test calls directly. */
export function callOf(workspaceId: number): Call {
  return {
    ...receivedCall(readCallHeaders([]), {}),
    caller: {
      audience: "workspace",
      account: workspaceId,
      workspaceId,
      limits: DEFAULT_LIMITS,
      suspended: false,
      keyId: "key_000000000000000000000000",
      keyName: "a test",
      keyScope: "full",
      member: undefined,
    },
    rateLimit: {
      limitClass: "write",
      limit: DEFAULT_LIMITS.write,
      verdict: { allowed: true, remaining: 1, resetSeconds: 1 },
    },
  };
}
