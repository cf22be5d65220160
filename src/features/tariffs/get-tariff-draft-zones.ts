import { create } from "@bufbuild/protobuf";
import {
  GetTariffDraftZonesResponseSchema,
  type GetTariffDraftZonesRequestValid,
  type GetTariffDraftZonesResponse,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { draftNotFoundError } from "./tariff-refusals.ts";

/**
 * Gives the zones of a draft as they were uploaded, empty when there are none.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function getTariffDraftZones(
  { draft }: GetTariffDraftZonesRequestValid,
  em: EntityManager,
): Promise<GetTariffDraftZonesResponse> {
  const id = readRecordId(draft) ?? 0;
  const rows = await runStatement<{ data: Buffer | null }>(em.fork(), READ_ZONES, [id]);
  if (rows.length === 0) throw draftNotFoundError();
  const pieces = rows.flatMap(({ data }) => data ?? []);
  return create(GetTariffDraftZonesResponseSchema, { geojson: Buffer.concat(pieces) });
}

const READ_ZONES = `
  select data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;
