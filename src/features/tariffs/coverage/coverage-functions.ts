import type { CoverageService } from "../../../../gen/shipments/v1/coverage_service_pb.js";
import type { Point } from "../../../domain/coverage/geo.ts";
import { zoneOf } from "../../../domain/pricing/pricing.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { ServiceFunctions } from "../../../pipeline/rpc.ts";
import { roundedToleranceM } from "../tasks/coverage-document.ts";
import type { TariffCache } from "../versions/tariff-cache.ts";
import type { CoverageDocuments } from "./coverage-documents.ts";

export interface CoverageDeps {
  readonly tariffs: Pick<TariffCache, "current">;
  readonly coverage: CoverageDocuments;
}

/** RPCs for the zones of the tariff in force, which is the same for all workspaces. */
export const COVERAGE_FUNCTIONS: ServiceFunctions<typeof CoverageService, Call, CoverageDeps> = {
  getCoverage: ({ toleranceM = 0 }, _call, { tariffs, coverage }) =>
    coverage.find(tariffs.current().version, roundedToleranceM(toleranceM)),

  findZones({ points }, _call, { tariffs }) {
    const { version, pricing } = tariffs.current();
    const data = points.map((point) => {
      const zone = zoneOf(pricing, point);
      return zone === undefined ? {} : { zone };
    });
    return { data, tariffVersion: version };
  },
};

/**
 * Returns the name of the zone at a point in the tariff in force. Returns `undefined` outside all
 * zones or if no tariff is in force.
 */
export function zoneNameAt(tariffs: Pick<TariffCache, "current" | "currentVersion">, point: Point): string | undefined {
  if (tariffs.currentVersion() === undefined) return undefined;
  return zoneOf(tariffs.current().pricing, point)?.name;
}
