import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsGzip, matchesTag } from "./negotiation.ts";
import type { DocumentResponse } from "../../pipeline/rpc-response.ts";

export interface EncodedDocument {
  /** Alternating header names and values. */
  readonly headers: readonly string[];
  /** Omitted for status 304, because the caller already has the document. */
  readonly body: Buffer | undefined;
}

export type DocumentForms = Pick<DocumentResponse, "document" | "form">;

const COMPRESS_MIN_BYTES = 1024;
const compress = promisify(gzip);

/**
 * Selects a document or its compressed form by Accept-Encoding. Returns status 304 if If-None-Match
 * contains its tag (RFC 9110, 12.5.3 and 13.1.2). Each document is compressed once, on Node's thread pool.
 */
export async function encodeDocument(response: DocumentForms, request: IncomingHttpHeaders): Promise<EncodedDocument> {
  const { contentType, body, etag, cacheControl } = response.document;
  const compressed = body.length >= COMPRESS_MIN_BYTES && acceptsGzip(request["accept-encoding"] ?? "");
  // Different forms need different strong validators (RFC 9110, 8.8.3.3).
  const tag = compressed ? `"${etag}-gzip"` : `"${etag}"`;
  const headers = ["etag", tag, "cache-control", cacheControl, "vary", "Accept-Encoding"];
  if (matchesTag(request["if-none-match"], tag)) return { headers, body: undefined };

  headers.push("content-type", contentType);
  if (!compressed) return { headers, body };
  headers.push("content-encoding", "gzip");
  return { headers, body: await response.form("gzip", () => compress(body)) };
}
