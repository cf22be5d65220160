import { create } from "@bufbuild/protobuf";
import {
  GetTariffVersionResponseSchema,
  type GetTariffVersionRequestValid,
  type GetTariffVersionResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { loadVersion, versionMessage, versionNotFoundError } from "./load-version.ts";

/**
 * Gives a version without its zones.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND
 */
export async function getTariffVersion(
  { version }: GetTariffVersionRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetTariffVersionResponse> {
  const row = await loadVersion(em.fork(), version);
  if (row === undefined) throw versionNotFoundError(version);
  return create(GetTariffVersionResponseSchema, { data: versionMessage(row) });
}
