import { create } from "@bufbuild/protobuf";
import {
  GetTariffInForceResponseSchema,
  type GetTariffInForceResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { loadVersionInForce, noTariffInForceError, versionMessage } from "./load-version.ts";

/**
 * Gives the version in force, without its zones.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND while none is in force
 */
export async function getTariffInForce(
  _request: unknown,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetTariffInForceResponse> {
  const row = await loadVersionInForce(em.fork());
  if (row === undefined) throw noTariffInForceError();
  return create(GetTariffInForceResponseSchema, { data: versionMessage(row) });
}
