import type { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { getWorkspace } from "./get-workspace.ts";

/** The functions behind `shipments.v1.WorkspaceService`. */
export function workspaceService(em: EntityManager): ServiceFunctions<typeof WorkspaceService> {
  return {
    getWorkspace: (_, call) => getWorkspace(call, em),
  };
}
