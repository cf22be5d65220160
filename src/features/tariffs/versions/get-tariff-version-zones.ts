import { create } from "@bufbuild/protobuf";
import {
  GetTariffVersionZonesResponseSchema,
  type GetTariffVersionZonesRequestValid,
  type GetTariffVersionZonesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DocumentResponse } from "../../../pipeline/rpc-response.ts";
import { versionNotFoundError } from "./load-version.ts";
import { PIECE_BYTES, zonesResponse, type LoadZones } from "./zones-document.ts";

/**
 * Gives the zones of a version as they were published.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND
 */
export async function getTariffVersionZones(
  { version }: GetTariffVersionZonesRequestValid,
  _call: unknown,
  { loadZones }: { readonly loadZones: LoadZones },
): Promise<DocumentResponse<GetTariffVersionZonesResponse>> {
  const rows = await loadZones<PieceRow>(SELECT_ZONES, version);
  const [first] = rows;
  if (first === undefined) throw versionNotFoundError(version);
  const pieces = rows.map(({ piece }) => piece);
  return zonesResponse(pieces, first.digest, (geojson) =>
    create(GetTariffVersionZonesResponseSchema, { geojson }),
  );
}

interface PieceRow {
  readonly digest: string;
  readonly piece: Buffer;
}

/**
 * The text of a member of `json` is as it was written; `offset 0` has it made once, not for each
 * piece.
 */
const SELECT_ZONES = `
  select digest, substring(zones from place for ${PIECE_BYTES}) as piece
  from (
    select digest, convert_to((document -> 'zones')::text, 'UTF8') as zones
    from tariff_version where version = $1 offset 0
  ) as version, generate_series(1, octet_length(zones), ${PIECE_BYTES}) as place
  order by place`;
