import type { GetCoverageRequest } from "../../../../gen/shipments/v1/coverage_service_pb.js";
import { roundedToleranceM } from "../tasks/coverage-document.ts";
import type { CoverageResponse, CoverageDocuments } from "./coverage-documents.ts";
import type { TariffCache } from "../versions/tariff-cache.ts";

/** What `getCoverage` works with. */
export interface CoverageDeps {
  readonly tariffs: Pick<TariffCache, "current">;
  readonly coverage: CoverageDocuments;
}

/**
 * The zones of the tariff in force as GeoJSON, the same for all workspaces, with outlines that differ
 * from the true ones by at most the tolerance.
 *
 * @throws Refusal UNAVAILABLE while no tariff has been published
 */
export async function getCoverage(
  { toleranceM = 0 }: GetCoverageRequest,
  _call: unknown,
  { tariffs, coverage }: CoverageDeps,
): Promise<CoverageResponse> {
  return coverage.find(tariffs.current().version, roundedToleranceM(toleranceM));
}
