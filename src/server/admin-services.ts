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
import { callOffTariff } from "../features/tariffs/versions/call-off-tariff.ts";
import { checkTariff } from "../features/tariffs/drafts/check-tariff.ts";
import { compareTariffVersions } from "../features/tariffs/versions/compare-tariff-versions.ts";
import { createTariffDraft } from "../features/tariffs/drafts/create-tariff-draft.ts";
import { deleteTariffDraft } from "../features/tariffs/drafts/delete-tariff-draft.ts";
import { getTariffDraftSchedules } from "../features/tariffs/drafts/get-tariff-draft-schedules.ts";
import { getTariffDraftZones } from "../features/tariffs/drafts/get-tariff-draft-zones.ts";
import { getTariffDraft } from "../features/tariffs/drafts/get-tariff-draft.ts";
import { getTariffInForce } from "../features/tariffs/versions/get-tariff-in-force.ts";
import { getTariffVersionSchedules } from "../features/tariffs/versions/get-tariff-version-schedules.ts";
import { getTariffVersionZones } from "../features/tariffs/versions/get-tariff-version-zones.ts";
import { getTariffVersion } from "../features/tariffs/versions/get-tariff-version.ts";
import { createZonesLoader } from "../features/tariffs/versions/zones-document.ts";
import { listTariffDrafts } from "../features/tariffs/drafts/list-tariff-drafts.ts";
import { listTariffVersions } from "../features/tariffs/versions/list-tariff-versions.ts";
import { publishTariff } from "../features/tariffs/drafts/publish-tariff.ts";
import { replayTariff } from "../features/tariffs/drafts/replay-tariff.ts";
import { rollBackTariff } from "../features/tariffs/versions/roll-back-tariff.ts";
import type { DraftDeps } from "../features/tariffs/drafts/check-stored-draft.ts";
import { updateTariffDraft } from "../features/tariffs/drafts/update-tariff-draft.ts";
import { uploadTariffZones } from "../features/tariffs/drafts/upload-tariff-zones.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { OPERATOR_FUNCTIONS } from "../features/operators/operator-functions.ts";
import { WORKSPACE_ADMIN_FUNCTIONS } from "../features/workspace-admin/workspace-admin-functions.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions, withOwnTransactions } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES: readonly DescService[] = [
  OperatorService,
  AuditService,
  WorkspaceAdminService,
  TariffService,
  PlatformReportService,
];

/** What the RPCs of operators work with. */
export type AdminDeps = DraftDeps & PlatformOverviewDeps & HealthDeps;

/** What performs each RPC of `TariffService`. */
const TARIFF_FUNCTIONS = {
  ...withOwnTransactions({
    createTariffDraft,
    updateTariffDraft,
    deleteTariffDraft,
    uploadTariffZones,
    publishTariff,
    rollBackTariff,
    callOffTariff,
  }),
  listTariffDrafts,
  getTariffDraft,
  getTariffDraftZones,
  getTariffDraftSchedules,
  checkTariff,
  replayTariff,
  getTariffInForce,
  listTariffVersions,
  getTariffVersion,
  getTariffVersionZones,
  getTariffVersionSchedules,
  compareTariffVersions,
};

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
    ...list(TariffService, TARIFF_FUNCTIONS),
    ...list(PlatformReportService, { getPlatformOverview, getHealth, getPlatformAttention }),
  ];
}
