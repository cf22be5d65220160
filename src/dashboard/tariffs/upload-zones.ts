import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { getDocument, putChunk } from "../api/documents.ts";

export function zonesPath({ id }: Pick<TariffDraft, "id">): string {
  return `/admin/v1/tariff_drafts/${id}/zones`;
}

/** Loads the text of a draft's zones. Empty if there are none. */
export async function loadZones(draft: TariffDraft): Promise<string> {
  return draft.zonesBytes === 0n ? "" : getDocument(zonesPath(draft), new AbortController().signal);
}

/** Chunk size in bytes: large enough for few calls, small enough to show progress. */
const CHUNK_BYTES = 1024 * 1024;

/** Replaces a draft's zones with a text in one call, so that a failure keeps the old ones. */
export async function saveZones(draft: { readonly id: bigint; readonly etag: string }, text: string): Promise<void> {
  await putZones(draft, 0, new Blob([text]));
}

async function putZones({ id, etag }: { readonly id: bigint; readonly etag: string }, offset: number, chunk: Blob) {
  const query = new URLSearchParams({ offset: String(offset), etag });
  const response = await putChunk(`${zonesPath({ id })}?${query.toString()}`, "application/geo+json", chunk);
  return (response as { readonly data: { readonly etag: string } }).data.etag;
}

/**
 * Replaces a draft's zones with a file, uploaded in consecutive chunks. The first chunk discards the old zones.
 *
 * @param draft must have the current etag, otherwise the upload is refused
 * @param progress called before each chunk with the completed share, from 0 to 1, and the draft's etag
 * @throws ConnectError from the service; earlier chunks stay stored
 */
export async function uploadZones(
  draft: { readonly id: bigint; readonly etag: string },
  file: Blob,
  progress: (done: number, etag: string) => void = () => {},
): Promise<void> {
  let { etag } = draft;
  let offset = 0;
  do {
    progress(file.size === 0 ? 0 : offset / file.size, etag);
    const chunk = file.slice(offset, offset + CHUNK_BYTES);
    etag = await putZones({ id: draft.id, etag }, offset, chunk);
    offset += chunk.size;
  } while (offset < file.size);
}
