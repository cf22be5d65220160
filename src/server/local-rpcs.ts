import {
  create,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { OPERATOR_FUNCTIONS } from "../features/operators/operator-functions.ts";
import { WORKSPACE_ADMIN_FUNCTIONS } from "../features/workspace-admin/workspace-admin-functions.ts";
import { DRAFT_FUNCTIONS } from "../features/tariffs/drafts/draft-functions.ts";
import { VERSION_FUNCTIONS } from "../features/tariffs/versions/version-functions.ts";
import type { TariffTasks } from "../features/tariffs/tasks/run-tariff-task.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { localCall } from "../pipeline/local-call.ts";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";
import { messageOf } from "../pipeline/rpc-response.ts";
import { listRpcs, type ServiceFunctions } from "../pipeline/rpc.ts";

/** Actor of a call without a server, as recorded in the audit log. */
export interface LocalActor {
  readonly actor: "command_line" | "service";
  readonly name: string;
}

/**
 * Calls an operator RPC without a server, for the command line and the service itself. The RPC may need
 * only the database. Validates the request like a server.
 *
 * @throws Refusal FIELD_INVALID, and errors of the RPC
 */
export async function callLocally<M extends DescMethodUnary>(
  em: EntityManager,
  { actor, name }: LocalActor,
  method: M,
  fields: MessageInitShape<M["input"]>,
): Promise<MessageShape<M["output"]>> {
  const request = create<M["input"]>(method.input, fields);
  compileValidateRequest(method.input)(request);
  const deps = { em, now: () => new Date(), tasks: NO_TASKS, loadZones: needsServer };
  const transact = createTransact(deps);
  const list = <S extends DescService>(service: S, functions: ServiceFunctions<S, OperatorCall, typeof deps>) =>
    method.parent === service ? listRpcs(service, functions, deps, transact) : [];
  const rpc = [
    ...list(OperatorService, OPERATOR_FUNCTIONS),
    ...list(WorkspaceAdminService, WORKSPACE_ADMIN_FUNCTIONS),
    ...list(AuditService, { listAuditEntries }),
    ...list(TariffService, { ...DRAFT_FUNCTIONS, ...VERSION_FUNCTIONS }),
  ].find((it) => it.method === method);
  if (rpc === undefined) needsServer();
  const response = await rpc.run(request, localCall(method, actor, name));
  return messageOf(response) as MessageShape<M["output"]>;
}

/** Rejects the tasks that require worker threads: checking and comparing tariffs. */
const NO_TASKS: TariffTasks = {
  run: needsServer,
  runAtOnce: needsServer,
  checks: new LRUCache({ max: 1 }),
};

function needsServer(): never {
  throw new Error("this RPC works only within a running service");
}
