import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ownAddress, splitUrl } from "../connect/request-target.ts";
import { loadOnce } from "../../domain/load-once.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Document } from "../../pipeline/rpc-response.ts";
import { encodeDocument, type DocumentForms, type EncodedDocument } from "./document-response.ts";
import { forReading, sendRefusal, type HttpHandler } from "./responses.ts";

export const DESCRIPTION_PATH = "/openapi.json";

/** Matches the server URL in the generated file. */
const OWN_ADDRESS = /(?<="servers": \[\s*\{\s*"url": )"\/"/;
/**
 * Maximum number of cached documents, one per server address. Callers can choose addresses without a
 * key, and compressing a document takes 20 ms of CPU time.
 */
const MAX_ADDRESSES = 8;

/**
 * Serves the OpenAPI document at `/openapi.json`, for GET and HEAD, without a credential. Sets the server URL to
 * `publicUrl` or the requested host, for tools that store the document. The file is read on first use and cached.
 */
export function createApiDescription(file: string, publicUrl: string | undefined): HttpHandler {
  const template = loadOnce(() => readFile(file, "utf8"));
  const cache = new Map<string, DocumentForms>();

  async function reply(request: IncomingMessage): Promise<EncodedDocument> {
    const address = publicUrl ?? (ownAddress(request) || "/");
    const description = cache.get(address) ?? describe(await template.get(), address);
    if (cache.size < MAX_ADDRESSES) cache.set(address, description);
    if (cache.has(address)) return encodeDocument(description, request.headers);
    return encodeDocument(description, { ...request.headers, "accept-encoding": "identity" });
  }

  async function send(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const { headers, body } = await reply(request);
    const all = ["x-request-id", requestId, ...headers];
    if (body === undefined) return void response.writeHead(304, all).end();
    // For HEAD, Node omits the body.
    response.writeHead(200, [...all, "content-length", String(body.length)]).end(body);
  }

  return (request, response, requestId) => {
    if (splitUrl(request)[0] !== DESCRIPTION_PATH) return false;
    return forReading(request, response, requestId, () => {
      send(request, response, requestId).catch(() => {
        const text = "The service cannot read its API description. Report this error.";
        sendRefusal(response, requestId, refuse("INTERNAL", text));
      });
    });
  };
}

function describe(template: string, address: string): DocumentForms {
  const body = Buffer.from(template.replace(OWN_ADDRESS, () => JSON.stringify(address)));
  const etag = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  const document: Document = {
    contentType: "application/json",
    body,
    etag,
    cacheControl: "public, no-cache",
  };
  let compressed: Promise<Buffer> | undefined;
  return { document, form: (_, make) => (compressed ??= make()) };
}
