import {
  create,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { OPERATOR_FUNCTIONS } from "../features/operators/operator-functions.ts";
import { WORKSPACE_ADMIN_FUNCTIONS } from "../features/workspace-admin/workspace-admin-functions.ts";
import { localCall } from "../pipeline/local-call.ts";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";
import { messageOf } from "../pipeline/rpc-response.ts";
import { listRpcs } from "../pipeline/rpc.ts";

/** Who calls without a server, for the audit log. */
export interface LocalActor {
  readonly actor: "command_line" | "service";
  readonly name: string;
}

/**
 * Calls an RPC of operators that needs the database alone, without a server: for the command line and the
 * service itself. The request is checked as one that comes in by the servers.
 *
 * @throws Refusal FIELD_INVALID, and whatever the RPC throws
 */
export async function callLocally<M extends DescMethodUnary>(
  em: EntityManager,
  { actor, name }: LocalActor,
  method: M,
  fields: MessageInitShape<M["input"]>,
): Promise<MessageShape<M["output"]>> {
  const request = create<M["input"]>(method.input, fields);
  compileValidateRequest(method.input)(request);
  const deps = { em };
  const transact = createTransact(deps);
  const rpc = [
    ...listRpcs(OperatorService, OPERATOR_FUNCTIONS, deps, transact),
    ...listRpcs(WorkspaceAdminService, WORKSPACE_ADMIN_FUNCTIONS, deps, transact),
    ...listRpcs(AuditService, { listAuditEntries }, deps, transact),
  ].find((it) => it.method === method);
  if (rpc === undefined) throw new Error(`${rpcName(method)} needs a server`);
  const response = await rpc.run(request, localCall(method, actor, name));
  return messageOf(response) as MessageShape<M["output"]>;
}

function rpcName({ parent, name }: DescMethodUnary): string {
  return `${parent.typeName}/${name}`;
}
