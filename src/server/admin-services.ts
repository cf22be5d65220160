import type { DescService } from "@bufbuild/protobuf";
import { TariffService } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { callOffTariff } from "../features/tariffs/call-off-tariff.ts";
import { checkTariff } from "../features/tariffs/check-tariff.ts";
import { compareTariffVersions } from "../features/tariffs/compare-tariff-versions.ts";
import { createTariffDraft } from "../features/tariffs/create-tariff-draft.ts";
import { deleteTariffDraft } from "../features/tariffs/delete-tariff-draft.ts";
import { getTariffDraftZones } from "../features/tariffs/get-tariff-draft-zones.ts";
import { getTariffDraft } from "../features/tariffs/get-tariff-draft.ts";
import { getTariffInForce } from "../features/tariffs/get-tariff-in-force.ts";
import { getTariffVersionZones } from "../features/tariffs/get-tariff-version-zones.ts";
import { getTariffVersion } from "../features/tariffs/get-tariff-version.ts";
import { listTariffDrafts } from "../features/tariffs/list-tariff-drafts.ts";
import { listTariffVersions } from "../features/tariffs/list-tariff-versions.ts";
import { publishTariff } from "../features/tariffs/publish-tariff.ts";
import { replayTariff } from "../features/tariffs/replay-tariff.ts";
import { rollBackTariff } from "../features/tariffs/roll-back-tariff.ts";
import type { TariffDeps } from "../features/tariffs/tariff-deps.ts";
import { updateTariffDraft } from "../features/tariffs/update-tariff-draft.ts";
import { uploadTariffZones } from "../features/tariffs/upload-tariff-zones.ts";
import type { OperatorCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES: readonly DescService[] = [TariffService];

/** What the RPCs of operators work with. */
export type AdminDeps = TariffDeps;

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(deps: AdminDeps): readonly Rpc[] {
  return [...listRpcs(TariffService, tariffFunctions(deps))];
}

function tariffFunctions(deps: TariffDeps): ServiceFunctions<typeof TariffService, OperatorCall> {
  const { em } = deps;
  return {
    createTariffDraft: (request, call) => createTariffDraft(request, call, deps),
    listTariffDrafts: () => listTariffDrafts(em),
    getTariffDraft: (request) => getTariffDraft(request, em),
    updateTariffDraft: (request, call) => updateTariffDraft(request, call, deps),
    deleteTariffDraft: (request, call) => deleteTariffDraft(request, call, deps),
    uploadTariffZones: (request, call) => uploadTariffZones(request, call, deps),
    getTariffDraftZones: (request) => getTariffDraftZones(request, em),
    checkTariff: (request) => checkTariff(request, deps),
    replayTariff: (request, call) => replayTariff(request, call, deps),
    publishTariff: (request, call) => publishTariff(request, call, deps),
    getTariffInForce: () => getTariffInForce(em),
    listTariffVersions: (request) => listTariffVersions(request, em),
    getTariffVersion: (request) => getTariffVersion(request, em),
    getTariffVersionZones: (request) => getTariffVersionZones(request, em),
    compareTariffVersions: (request, call) => compareTariffVersions(request, call, deps),
    rollBackTariff: (request, call) => rollBackTariff(request, call, deps),
    callOffTariff: (request, call) => callOffTariff(request, call, deps),
  };
}
