import type { DescService } from "@bufbuild/protobuf";
import { AccountService } from "../../gen/shipments/account/v1/account_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { MemberService } from "../../gen/shipments/v1/member_service_pb.js";
import type { Rpc } from "../pipeline/rpc.ts";

/** The services that change who somebody is, or what they may do. */
const SERVICES: readonly DescService[] = [
  AccountService,
  MemberService,
  OperatorService,
  WorkspaceAdminService,
];

/**
 * Has what was remembered of sessions and of operators' keys forgotten after each call that may have
 * changed it, so that the change counts at once in this process, as it does within a second in the others.
 */
export function forgetCallersAfter(rpcs: readonly Rpc[], forgetAll: () => void): readonly Rpc[] {
  return rpcs.map((rpc) => {
    if (rpc.readOnly || !SERVICES.includes(rpc.method.parent)) return rpc;
    const run: Rpc["run"] = async (request, call) => {
      try {
        return await rpc.run(request, call);
      } finally {
        forgetAll();
      }
    };
    return { ...rpc, run };
  });
}
