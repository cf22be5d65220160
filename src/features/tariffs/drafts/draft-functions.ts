import { create } from "@bufbuild/protobuf";
import { TariffSchedulesSchema } from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import {
  GetTariffDraftZonesResponseSchema,
  type TariffService,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { readRecordId } from "../../../db/columns.ts";
import { MAX_TARIFF_DRAFTS } from "../../../domain/limits.ts";
import { assertEtag } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { aroundTransaction, type ServiceFunctions } from "../../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { loadVersionInForce } from "../versions/load-version.ts";
import { readDocument, withFees, withSchedules } from "../versions/document-message.ts";
import { zonesResponse, type LoadZones } from "../versions/zones-document.ts";
import { checkStoredDraft, type DraftDeps } from "./check-stored-draft.ts";
import { createTariffDraft } from "./create-tariff-draft.ts";
import { publishTariff } from "./publish-tariff.ts";
import { replayTariff } from "./replay-tariff.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";
import { auditedFees, deleteDraft, draftEtag, draftMessage, draftNotFoundError, findDraft } from "./tariff-drafts.ts";
import { uploadTariffZones } from "./upload-tariff-zones.ts";

export const DRAFT_FUNCTIONS = {
  createTariffDraft,
  replayTariff,
  uploadTariffZones: aroundTransaction(uploadTariffZones),
  publishTariff: aroundTransaction(publishTariff),

  /** Lists drafts, last changed first. There are no pages, because there are at most `MAX_TARIFF_DRAFTS` drafts. */
  async listTariffDrafts(_request, _call, { em }) {
    const orderBy = { updatedAt: "desc", id: "desc" } as const;
    const found = await em.fork().find(TariffDraft, {}, { orderBy, limit: MAX_TARIFF_DRAFTS });
    return { data: found.map(draftMessage) };
  },

  async getTariffDraft({ draft }, _call, { em }) {
    return { data: draftMessage(await findDraft(em.fork(), draft)) };
  },

  async getTariffDraftZones({ draft }, _call, { loadZones }) {
    const id = readRecordId(draft) ?? 0;
    const rows = await loadZones<PieceRow>(SELECT_ZONES, id);
    const [first] = rows;
    if (first === undefined) throw draftNotFoundError();
    const chunks = rows.flatMap(({ data }) => data ?? []);
    return zonesResponse(chunks, draftEtag({ id, revision: first.revision }), (geojson) =>
      create(GetTariffDraftZonesResponseSchema, { geojson }),
    );
  },

  async getTariffDraftSchedules(request, _call, { em }) {
    const draft = await findDraft(em.fork(), request.draft);
    return { data: readDocument(TariffSchedulesSchema, draft.fees), etag: draftEtag(draft) };
  },

  async checkTariff(request, _call, deps) {
    const em = deps.em.fork();
    const draft = await findDraft(em, request.draft);
    const checked = await checkStoredDraft(deps, draft);
    if (checked === undefined) throw draftNotFoundError();
    const inForce = await loadVersionInForce(em);
    const { faults, warnings, zones, tiers, revision, digest } = checked;
    return {
      faults: [...faults],
      warnings: [...warnings],
      zones,
      tiers,
      sameAsInForce: digest !== undefined && digest === inForce?.digest,
      etag: draftEtag({ id: draft.id, revision }),
    };
  },

  /** If nothing changes, the row and its etag stay the same. */
  async updateTariffDraft(request, call, { em, now }) {
    const draft = await findDraft(em, request.draft, "lock");
    assertEtag("draft", request.etag, draftEtag(draft));
    const before = { name: draft.name, ...auditedFees(draft.fees) };
    const fees = withSchedules(withFees(draft.fees, request.fees), request.schedules);
    const name = request.name ?? draft.name;
    if (name !== draft.name || JSON.stringify(fees) !== JSON.stringify(draft.fees)) {
      Object.assign(draft, { name, fees, updatedAt: now(), revision: draft.revision + 1 });
      await em.flush();
      const changes = changesBetween(before, { name, ...auditedFees(fees) });
      recordChange(em, call, { subject: `tariff_draft/${draft.id}`, changes });
    }
    return { data: draftMessage(draft) };
  },

  deleteTariffDraft: ({ draft }, call, { em }) => deleteDraft(em, call, draft),
} satisfies Partial<
  ServiceFunctions<typeof TariffService, OperatorCall, DraftDeps & { readonly loadZones: LoadZones }>
>;

interface PieceRow {
  readonly revision: number;
  /** Chunk of the zones. null if there are none. */
  readonly data: Buffer | null;
}

const SELECT_ZONES = `
  select revision, data
  from tariff_draft left join tariff_draft_piece on draft_id = id
  where id = $1 order by "begin"`;
