import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsGzip, matchesTag } from "./negotiation.ts";
import type { DocumentResponse } from "../../pipeline/rpc-response.ts";

export interface EncodedDocument {
  /** Header names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined when the caller has the document already: the status is 304. */
  readonly body: Buffer | undefined;
}

export type DocumentForms = Pick<DocumentResponse, "document" | "form">;

const COMPRESS_MIN_BYTES = 1024;
const compress = promisify(gzip);

/**
 * Chooses between a document and its compressed form by Accept-Encoding, and sends neither to a caller
 * whose If-None-Match names it (RFC 9110, 12.5.3 and 13.1.2). Compression is done in a thread of
 * Node's, once for each document.
 */
export async function encodeDocument(
  response: DocumentForms,
  request: IncomingHttpHeaders,
): Promise<EncodedDocument> {
  const { contentType, body, etag, cacheControl } = response.document;
  const compressed =
    body.length >= COMPRESS_MIN_BYTES && acceptsGzip(request["accept-encoding"] ?? "");
  // The two forms differ, so that one strong validator cannot stand for both (RFC 9110, 8.8.3.3).
  const tag = compressed ? `"${etag}-gzip"` : `"${etag}"`;
  const headers = ["etag", tag, "cache-control", cacheControl, "vary", "Accept-Encoding"];
  if (matchesTag(request["if-none-match"], tag)) return { headers, body: undefined };

  headers.push("content-type", contentType);
  if (!compressed) return { headers, body };
  headers.push("content-encoding", "gzip");
  return { headers, body: await response.form("gzip", () => compress(body)) };
}
