import type { DescService } from "@bufbuild/protobuf";
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { createOperator } from "../features/operators/create-operator.ts";
import { getOperator } from "../features/operators/get-operator.ts";
import { getSelf } from "../features/operators/get-self.ts";
import { listOperators } from "../features/operators/list-operators.ts";
import { revokeOperator } from "../features/operators/revoke-operator.ts";
import { rotateOperatorKey } from "../features/operators/rotate-operator-key.ts";
import { updateOperator } from "../features/operators/update-operator.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES: readonly DescService[] = [OperatorService, AuditService];

/** What the RPCs of operators work with. */
export interface AdminDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
}

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(deps: AdminDeps): readonly Rpc[] {
  return [
    ...listRpcs(OperatorService, operatorFunctions(deps)),
    ...listRpcs(AuditService, auditFunctions(deps)),
  ];
}

function operatorFunctions({
  em,
}: AdminDeps): ServiceFunctions<typeof OperatorService, OperatorCall> {
  return {
    getSelf: (_, call) => getSelf(call, em),
    listOperators: (request) => listOperators(request, em),
    getOperator: (request) => getOperator(request, em),
    createOperator: (request, call) => createOperator(request, call, em),
    updateOperator: (request, call) => updateOperator(request, call, em),
    rotateOperatorKey: (request, call) => rotateOperatorKey(request, call, em),
    revokeOperator: (request, call) => revokeOperator(request, call, em),
  };
}

function auditFunctions({ em }: AdminDeps): ServiceFunctions<typeof AuditService, OperatorCall> {
  return { listAuditEntries: (request) => listAuditEntries(request, em) };
}
