import { putPiece } from "../api/documents.ts";

/** How many bytes go in one piece: enough that few calls are made, little enough to show progress. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Puts a file in the place of a draft's zones, in pieces that follow each other. What was there is gone
 * from the first piece on.
 *
 * @param etag the draft's; refused when it is not any more
 * @param progress is told the share that is done, from 0 to 1
 * @throws ConnectError with the service's words; what came before stays
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
    const piece = file.slice(offset, offset + PIECE_BYTES);
    const query = new URLSearchParams({ offset: String(offset), etag });
    const path = `/admin/v1/tariff_drafts/${draft.id}/zones?${query.toString()}`;
    const response = await putPiece(path, "application/geo+json", piece);
    etag = (response as { readonly data: { readonly etag: string } }).data.etag;
    offset += piece.size;
  } while (offset < file.size);
}
