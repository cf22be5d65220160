import type { DescService } from "@bufbuild/protobuf";
import { AuditService } from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { PlatformReportService } from "../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { createOperatorKey } from "../features/operators/create-operator-key.ts";
import { createOperatorSignInLink } from "../features/operators/create-operator-sign-in-link.ts";
import { createOperator } from "../features/operators/create-operator.ts";
import { getOperator } from "../features/operators/get-operator.ts";
import { getSelf } from "../features/operators/get-self.ts";
import { listOperators } from "../features/operators/list-operators.ts";
import { revokeOperatorKey } from "../features/operators/revoke-operator-key.ts";
import { revokeOperator } from "../features/operators/revoke-operator.ts";
import { rotateOperatorKey } from "../features/operators/rotate-operator-key.ts";
import { updateOperator } from "../features/operators/update-operator.ts";
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
import { connectPaymentProvider } from "../features/workspace-admin/connect-payment-provider.ts";
import { createWorkspaceApiKey } from "../features/workspace-admin/create-workspace-api-key.ts";
import { createWorkspace } from "../features/workspace-admin/create-workspace.ts";
import { disconnectPaymentProvider } from "../features/workspace-admin/disconnect-payment-provider.ts";
import { getWorkspace } from "../features/workspace-admin/get-workspace.ts";
import { inviteWorkspaceMember } from "../features/workspace-admin/invite-workspace-member.ts";
import { listWorkspaceApiKeys } from "../features/workspace-admin/list-workspace-api-keys.ts";
import { listWorkspaces } from "../features/workspace-admin/list-workspaces.ts";
import { renameWorkspace } from "../features/workspace-admin/rename-workspace.ts";
import { resumeWorkspace } from "../features/workspace-admin/resume-workspace.ts";
import { revokeWorkspaceApiKey } from "../features/workspace-admin/revoke-workspace-api-key.ts";
import { rotateWorkspaceApiKeys } from "../features/workspace-admin/rotate-workspace-api-keys.ts";
import { suspendWorkspace } from "../features/workspace-admin/suspend-workspace.ts";
import { updateWorkspaceApiKey } from "../features/workspace-admin/update-workspace-api-key.ts";
import { updateWorkspaceLimits } from "../features/workspace-admin/update-workspace-limits.ts";
import { updateWorkspaceTimeZone } from "../features/workspace-admin/update-workspace-time-zone.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions } from "../pipeline/rpc.ts";

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
  createTariffDraft,
  listTariffDrafts,
  getTariffDraft,
  updateTariffDraft,
  deleteTariffDraft,
  uploadTariffZones,
  getTariffDraftZones,
  getTariffDraftSchedules,
  checkTariff,
  replayTariff,
  publishTariff,
  getTariffInForce,
  listTariffVersions,
  getTariffVersion,
  getTariffVersionZones,
  getTariffVersionSchedules,
  compareTariffVersions,
  rollBackTariff,
  callOffTariff,
};

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(given: AdminDeps): readonly Rpc[] {
  const deps = { ...given, loadZones: createZonesLoader(given.em) };
  const list = <S extends DescService>(
    service: S,
    functions: ServiceFunctions<S, OperatorCall, typeof deps>,
  ) => listRpcs(service, functions, deps);
  return [
    ...list(OperatorService, {
      getSelf,
      listOperators,
      getOperator,
      createOperator,
      updateOperator,
      createOperatorKey,
      revokeOperatorKey,
      rotateOperatorKey,
      createOperatorSignInLink,
      revokeOperator,
    }),
    ...list(AuditService, { listAuditEntries }),
    ...list(WorkspaceAdminService, {
      createWorkspace,
      listWorkspaces,
      getWorkspace,
      renameWorkspace,
      suspendWorkspace,
      resumeWorkspace,
      connectPaymentProvider,
      disconnectPaymentProvider,
      updateWorkspaceLimits,
      updateWorkspaceTimeZone,
      listWorkspaceApiKeys,
      createWorkspaceApiKey,
      updateWorkspaceApiKey,
      rotateWorkspaceApiKeys,
      revokeWorkspaceApiKey,
      inviteWorkspaceMember,
    }),
    ...list(TariffService, TARIFF_FUNCTIONS),
    ...list(PlatformReportService, { getPlatformOverview, getHealth, getPlatformAttention }),
  ];
}
