import { create } from "@bufbuild/protobuf";
import {
  GetTariffVersionZonesResponseSchema,
  type GetTariffVersionZonesRequestValid,
  type GetTariffVersionZonesResponse,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { versionNotFoundError } from "./tariff-refusals.ts";
import { PIECE_BYTES } from "./tariff-draft-piece.entity.ts";

/**
 * Gives the zones of a version as they were published.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND
 */
export async function getTariffVersionZones(
  { version }: GetTariffVersionZonesRequestValid,
  em: EntityManager,
): Promise<GetTariffVersionZonesResponse> {
  const rows = await runStatement<{ piece: Buffer }>(em.fork(), READ_ZONES, [version]);
  if (rows.length === 0) throw versionNotFoundError(version);
  const geojson = Buffer.concat(rows.map(({ piece }) => piece));
  return create(GetTariffVersionZonesResponseSchema, { geojson });
}

/**
 * In pieces, so that none takes this thread for long. The text of a member of `json` is as it was
 * written; `offset 0` has it made once, not for each piece.
 */
const READ_ZONES = `
  select substring(zones from place for ${PIECE_BYTES}) as piece
  from (
    select convert_to((document -> 'zones')::text, 'UTF8') as zones
    from tariff_version where version = $1 offset 0
  ) as read, generate_series(1, octet_length(zones), ${PIECE_BYTES}) as place
  order by place`;
