import type { CoverageService } from "../../../../gen/shipments/v1/coverage_service_pb.js";
import { zoneIdentityAt } from "../../../domain/pricing/pricing.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { ServiceFunctions } from "../../../pipeline/rpc.ts";
import { roundedToleranceM } from "../tasks/coverage-document.ts";
import type { TariffCache } from "../versions/tariff-cache.ts";
import type { CoverageDocuments } from "./coverage-documents.ts";

export interface CoverageDeps {
  readonly tariffs: Pick<TariffCache, "current">;
  readonly coverage: CoverageDocuments;
}

/** Of the tariff in force, the same for all workspaces. */
export const COVERAGE_FUNCTIONS: ServiceFunctions<typeof CoverageService, Call, CoverageDeps> = {
  getCoverage: ({ toleranceM = 0 }, _call, { tariffs, coverage }) =>
    coverage.find(tariffs.current().version, roundedToleranceM(toleranceM)),

  findZones({ points }, _call, { tariffs }) {
    const { version, pricing } = tariffs.current();
    const data = points.map((point) => {
      const zone = zoneIdentityAt(pricing, pricing.coverage.zoneAt(point));
      return zone === undefined ? {} : { zone };
    });
    return { data, tariffVersion: version };
  },
};
