import { create } from "@bufbuild/protobuf";
import {
  GetTariffVersionSchedulesResponseSchema,
  type GetTariffVersionSchedulesRequestValid,
  type GetTariffVersionSchedulesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { versionNotFoundError } from "./load-version.ts";
import { schedulesMessage } from "./schedules-message.ts";

/**
 * Gives the schedules of a version.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND
 */
export async function getTariffVersionSchedules(
  { version }: GetTariffVersionSchedulesRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetTariffVersionSchedulesResponse> {
  const sql = "select fees from tariff_version where version = $1";
  const [row] = await runStatement<{ fees: object }>(em.fork(), sql, [version]);
  if (row === undefined) throw versionNotFoundError(version);
  return create(GetTariffVersionSchedulesResponseSchema, { data: schedulesMessage(row.fees) });
}
