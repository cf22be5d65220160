import type { DescService } from "@bufbuild/protobuf";
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { PlatformReportService } from "../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { getHealth, type HealthDeps } from "../features/reports/get-health.ts";
import { getPlatformAttention } from "../features/reports/get-platform-attention.ts";
import {
  getPlatformOverview,
  type PlatformOverviewDeps,
} from "../features/reports/get-platform-overview.ts";
import { createZonesLoader } from "../features/tariffs/versions/zones-document.ts";
import { DRAFT_FUNCTIONS } from "../features/tariffs/drafts/draft-functions.ts";
import { VERSION_FUNCTIONS } from "../features/tariffs/versions/version-functions.ts";
import type { DraftDeps } from "../features/tariffs/drafts/check-stored-draft.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { OPERATOR_FUNCTIONS } from "../features/operators/operator-functions.ts";
import { WORKSPACE_ADMIN_FUNCTIONS } from "../features/workspace-admin/workspace-admin-functions.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES = [
  OperatorService,
  AuditService,
  WorkspaceAdminService,
  TariffService,
  PlatformReportService,
];

/** What the RPCs of operators work with. */
export type AdminDeps = DraftDeps & PlatformOverviewDeps & HealthDeps;

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(given: AdminDeps): readonly Rpc[] {
  const deps = { ...given, loadZones: createZonesLoader(given.em) };
  const transact = createTransact(deps);
  const list = <S extends DescService>(
    service: S,
    functions: ServiceFunctions<S, OperatorCall, typeof deps>,
  ) => listRpcs(service, functions, deps, transact);
  return [
    ...list(OperatorService, OPERATOR_FUNCTIONS),
    ...list(AuditService, { listAuditEntries }),
    ...list(WorkspaceAdminService, WORKSPACE_ADMIN_FUNCTIONS),
    ...list(TariffService, { ...DRAFT_FUNCTIONS, ...VERSION_FUNCTIONS }),
    ...list(PlatformReportService, { getPlatformOverview, getHealth, getPlatformAttention }),
  ];
}
