import { webcrypto } from "node:crypto";
import {
  TariffService,
  type UploadTariffZonesRequest,
  type UploadTariffZonesResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { MAX_ZONES_BYTES } from "../../../domain/limits.ts";
import { assertEtag, invalidField } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { CHUNK_BYTES } from "../versions/zones-document.ts";
import type { DraftDeps } from "./check-stored-draft.ts";
import { draftEtag, draftMessage, findDraft } from "./tariff-drafts.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

/** Stores the zones of a draft, or their next chunk. They are parsed only when the draft is checked. */
export async function uploadTariffZones(
  request: UploadTariffZonesRequest,
  call: OperatorCall,
  { em, now }: DraftDeps,
): Promise<UploadTariffZonesResponse> {
  const method = TariffService.method.uploadTariffZones;
  const identified = call.idempotencyKey === undefined ? request : await withDigest(request);
  return withIdempotency(em, { method, request: identified, call }, async (tx) => {
    const draft = await findDraft(tx, request.draft ?? 0n, "lock");
    assertEtag("draft", request.etag, draftEtag(draft));
    const before = auditedZones(draft);
    const offset = checkOffset(draft, request);
    if (offset === 0) await runStatement(tx, DELETE_CHUNKS, [draft.id]);
    await insertChunks(tx, draft.id, offset, request.data);
    draft.zonesBytes = offset + request.data.length;
    draft.revision++;
    draft.updatedAt = now();
    await tx.flush();
    recordChange(tx, call, {
      subject: `tariff_draft/${draft.id}`,
      changes: changesBetween(before, auditedZones(draft)),
    });
    return { data: draftMessage(draft) };
  });
}

/** Describes the zones of a draft for the audit log. Includes the etag, which changes even if the size does not. */
function auditedZones(draft: TariffDraft) {
  return { zones_bytes: draft.zonesBytes, etag: draftEtag(draft) };
}

/**
 * Replaces the data in a request with its digest, for the comparison with a repeated call. Computes
 * it in another thread, because the data can be large.
 */
async function withDigest(request: UploadTariffZonesRequest): Promise<UploadTariffZonesRequest> {
  const data = await webcrypto.subtle.digest("SHA-256", request.data as Uint8Array<ArrayBuffer>);
  return { ...request, data: new Uint8Array(data) };
}

function checkOffset({ zonesBytes }: TariffDraft, request: UploadTariffZonesRequest): number {
  const offset = Number(request.offset ?? 0n);
  if (offset !== 0 && offset !== zonesBytes) {
    throw invalidField("offset", `must be 0 to start over, or ${zonesBytes}, the number of bytes uploaded so far.`);
  }
  if (offset + request.data.length > MAX_ZONES_BYTES) {
    throw invalidField("data", `must be at most ${MAX_ZONES_BYTES} bytes in total, including earlier uploads.`);
  }
  return offset;
}

const DELETE_CHUNKS = "delete from tariff_draft_piece where draft_id = $1";

/** Inserts chunks with many small statements, so that each stays within the database's statement timeout. */
async function insertChunks(tx: EntityManager, draft: number, offset: number, data: Uint8Array): Promise<void> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let begin = 0; begin < bytes.length; begin += CHUNK_BYTES) {
    const chunk = bytes.subarray(begin, begin + CHUNK_BYTES);
    await runStatement(tx, INSERT_CHUNK, [draft, offset + begin, chunk]);
  }
}

const INSERT_CHUNK = `insert into tariff_draft_piece (draft_id, "begin", data) values ($1, $2, $3)`;
