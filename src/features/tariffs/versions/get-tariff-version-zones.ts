import { create } from "@bufbuild/protobuf";
import {
  GetTariffVersionZonesResponseSchema,
  type GetTariffVersionZonesRequestValid,
  type GetTariffVersionZonesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { runSlowStatement } from "../../../db/statement.ts";
import { DocumentResponse } from "../../../pipeline/rpc-response.ts";
import { GEOJSON } from "../coverage/geojson.ts";
import type { ZonesDeps } from "./zones-document.ts";
import { versionNotFoundError } from "./tariff-refusals.ts";
import { PIECE_BYTES } from "../drafts/tariff-draft-piece.entity.ts";

/**
 * Gives the zones of a version as they were published.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND
 */
export async function getTariffVersionZones(
  { version }: GetTariffVersionZonesRequestValid,
  { em, readLarge }: ZonesDeps,
): Promise<DocumentResponse<GetTariffVersionZonesResponse>> {
  const rows = await readLarge(() =>
    em.fork().transactional((tx) => runSlowStatement<PieceRow>(tx, READ_ZONES, [version])),
  );
  const [first] = rows;
  if (first === undefined) throw versionNotFoundError(version);
  const geojson = Buffer.concat(rows.map(({ piece }) => piece));
  return new DocumentResponse(() => create(GetTariffVersionZonesResponseSchema, { geojson }), {
    contentType: GEOJSON,
    body: geojson,
    etag: first.digest,
    // A version never changes.
    cacheControl: "private, no-cache",
  });
}

interface PieceRow {
  readonly digest: string;
  readonly piece: Buffer;
}

/**
 * In pieces, so that none takes this thread for long. The text of a member of `json` is as it was
 * written; `offset 0` has it made once, not for each piece.
 */
const READ_ZONES = `
  select digest, substring(zones from place for ${PIECE_BYTES}) as piece
  from (
    select digest, convert_to((document -> 'zones')::text, 'UTF8') as zones
    from tariff_version where version = $1 offset 0
  ) as read, generate_series(1, octet_length(zones), ${PIECE_BYTES}) as place
  order by place`;
