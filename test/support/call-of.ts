import { DEFAULT_LIMITS } from "../../src/domain/rate-limit.ts";
import { readCallHeaders } from "../../src/pipeline/call-headers.ts";
import { admitCall, receiveCall, type Call } from "../../src/pipeline/call.ts";

/** Returns a workspace's pipeline call, for functions that tests call directly. */
export function callOf(workspaceId: number): Call {
  const limits = DEFAULT_LIMITS;
  const received = receiveCall(readCallHeaders([]), {});
  received.rateLimit = {
    limitClass: "write",
    limit: limits.write,
    verdict: { allowed: true, remaining: 1, resetSeconds: 1 },
  };
  return admitCall(received, "shipments.v1.ShipmentService/CreateShipment", {
    audience: "workspace",
    account: workspaceId,
    workspaceId,
    limits,
    test: false,
    suspended: false,
    keyId: "key_000000000000000000000000",
    key: { id: "key_000000000000000000000000", name: "a test", last4: "test" },
    keyScope: "full",
    member: undefined,
    trackingUrlOf: undefined,
    notifiesRecipients: false,
  });
}
