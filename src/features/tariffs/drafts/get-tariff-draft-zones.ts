import { create } from "@bufbuild/protobuf";
import {
  GetTariffDraftZonesResponseSchema,
  type GetTariffDraftZonesRequestValid,
  type GetTariffDraftZonesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { runSlowStatement } from "../../../db/statement.ts";
import { readRecordId } from "../../../db/record-id.ts";
import { DocumentResponse } from "../../../pipeline/rpc-response.ts";
import { draftEtag } from "./draft-etag.ts";
import { GEOJSON } from "../coverage/geojson.ts";
import type { ZonesDeps } from "../versions/zones-document.ts";
import { draftNotFoundError } from "../versions/tariff-refusals.ts";

/**
 * Gives the zones of a draft as they were uploaded, empty when there are none.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function getTariffDraftZones(
  { draft }: GetTariffDraftZonesRequestValid,
  { em, readLarge }: ZonesDeps,
): Promise<DocumentResponse<GetTariffDraftZonesResponse>> {
  const id = readRecordId(draft) ?? 0;
  const rows = await readLarge(() =>
    em.fork().transactional((tx) => runSlowStatement<PieceRow>(tx, READ_ZONES, [id])),
  );
  const [first] = rows;
  if (first === undefined) throw draftNotFoundError();
  const geojson = Buffer.concat(rows.flatMap(({ data }) => data ?? []));
  return new DocumentResponse(() => create(GetTariffDraftZonesResponseSchema, { geojson }), {
    contentType: GEOJSON,
    body: geojson,
    etag: draftEtag({ id, revision: first.revision }),
    cacheControl: "private, no-cache",
  });
}

interface PieceRow {
  readonly revision: number;
  /** Null when there are no zones. */
  readonly data: Buffer | null;
}

const READ_ZONES = `
  select revision, data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;
