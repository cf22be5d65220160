import { create } from "@bufbuild/protobuf";
import {
  type FindZonesRequestValid,
  type FindZonesResponse,
  FindZonesResponseSchema,
} from "../../../../gen/shipments/v1/coverage_service_pb.js";
import { zoneIdentityAt } from "../../../domain/pricing/pricing.ts";
import type { CoverageDeps } from "./get-coverage.ts";

/**
 * The zones of the tariff in force that points lie in, from memory.
 *
 * @throws Refusal UNAVAILABLE while no tariff has been published
 */
export function findZones(
  { points }: FindZonesRequestValid,
  _call: unknown,
  { tariffs }: Pick<CoverageDeps, "tariffs">,
): FindZonesResponse {
  const { version, pricing } = tariffs.current();
  const data = points.map((point) => {
    const zone = zoneIdentityAt(pricing, pricing.coverage.zoneAt(point));
    return zone === undefined ? {} : { zone };
  });
  return create(FindZonesResponseSchema, { data, tariffVersion: version });
}
