import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { DocumentResponse } from "../../pipeline/rpc-response.ts";

/** What a request for a document is answered with. */
export interface DocumentReply {
  /** Header names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined when the caller has the document already: the status is 304. */
  readonly body: Buffer | undefined;
}

/** A document in its forms. */
export type AnsweredDocument = Pick<DocumentResponse, "document" | "form">;

/** The smallest document that is compressed, in bytes. */
const COMPRESS_MIN_BYTES = 1024;
const compress = promisify(gzip);

/**
 * Chooses between a document and its compressed form by Accept-Encoding, and sends neither to a caller
 * whose If-None-Match names it (RFC 9110, 12.5.3 and 13.1.2). Compression is done in a thread of
 * Node's, once for each document.
 */
export async function documentReply(
  answer: AnsweredDocument,
  request: IncomingHttpHeaders,
): Promise<DocumentReply> {
  const { contentType, body, etag, cacheControl } = answer.document;
  const compressed =
    body.length >= COMPRESS_MIN_BYTES && acceptsGzip(request["accept-encoding"] ?? "");
  // The two forms differ, so that one strong validator cannot stand for both (RFC 9110, 8.8.3.3).
  const tag = compressed ? `"${etag}-gzip"` : `"${etag}"`;
  const headers = ["etag", tag, "cache-control", cacheControl, "vary", "Accept-Encoding"];
  if (matches(request["if-none-match"], tag)) return { headers, body: undefined };

  headers.push("content-type", contentType);
  if (!compressed) return { headers, body };
  headers.push("content-encoding", "gzip");
  return { headers, body: await answer.form("gzip", () => compress(body)) };
}

/** Whether gzip is accepted, and identity is not preferred to it by name. */
function acceptsGzip(accepted: string): boolean {
  const weights = new Map(
    accepted.split(",").map((range): [string, number] => {
      const [coding = "", ...parameters] = range
        .split(";")
        .map((part) => part.trim().toLowerCase());
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return [coding, q === undefined ? 1 : Number(q.slice(2)) || 0];
    }),
  );
  const weight = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}

/** A little more than RFC 9110 allows: also blanks in it. */
const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/** Whether one of the listed entity tags is this one by the weak comparison, or any will do. */
function matches(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(ENTITY_TAG)].some(([, opaque]) => opaque === tag);
}
