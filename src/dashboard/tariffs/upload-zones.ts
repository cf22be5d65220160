import { putChunk } from "../api/documents.ts";

/** Chunk size in bytes: large enough for few calls, small enough to show progress. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Replaces a draft's zones with a file, uploaded in consecutive chunks. The first chunk discards the old zones.
 *
 * @param draft must have the current etag, otherwise the upload is refused
 * @param progress called with the completed share, from 0 to 1
 * @throws ConnectError from the service; earlier chunks stay stored
 */
export async function uploadZones(
  draft: { readonly id: bigint; readonly etag: string },
  file: Blob,
  progress: (done: number) => void = () => {},
): Promise<void> {
  let { etag } = draft;
  let offset = 0;
  do {
    progress(file.size === 0 ? 0 : offset / file.size);
    const chunk = file.slice(offset, offset + CHUNK_BYTES);
    const query = new URLSearchParams({ offset: String(offset), etag });
    const path = `/admin/v1/tariff_drafts/${draft.id}/zones?${query.toString()}`;
    const response = await putChunk(path, "application/geo+json", chunk);
    etag = (response as { readonly data: { readonly etag: string } }).data.etag;
    offset += chunk.size;
  } while (offset < file.size);
}
