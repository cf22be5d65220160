import { create } from "@bufbuild/protobuf";
import {
  GetTariffDraftZonesResponseSchema,
  type GetTariffDraftZonesRequestValid,
  type GetTariffDraftZonesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { readRecordId } from "../../../db/columns.ts";
import type { DocumentResponse } from "../../../pipeline/rpc-response.ts";
import { zonesResponse, type LoadZones } from "../versions/zones-document.ts";
import { draftEtag, draftNotFoundError } from "./tariff-drafts.ts";

/**
 * Gives the zones of a draft as they were uploaded, empty when there are none.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function getTariffDraftZones(
  { draft }: GetTariffDraftZonesRequestValid,
  _call: unknown,
  { loadZones }: { readonly loadZones: LoadZones },
): Promise<DocumentResponse<GetTariffDraftZonesResponse>> {
  const id = readRecordId(draft) ?? 0;
  const rows = await loadZones<PieceRow>(SELECT_ZONES, id);
  const [first] = rows;
  if (first === undefined) throw draftNotFoundError();
  const pieces = rows.flatMap(({ data }) => data ?? []);
  return zonesResponse(pieces, draftEtag({ id, revision: first.revision }), (geojson) =>
    create(GetTariffDraftZonesResponseSchema, { geojson }),
  );
}

interface PieceRow {
  readonly revision: number;
  /** Null when there are no zones. */
  readonly data: Buffer | null;
}

const SELECT_ZONES = `
  select revision, data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;
