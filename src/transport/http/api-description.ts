import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { refuse } from "../../domain/refusal.ts";
import type { Document } from "../../pipeline/answer.ts";
import { documentReply, type AnsweredDocument } from "./document-reply.ts";
import { refuseMethod, sendRefusal } from "./send-refusal.ts";

/** Answers a request for the OpenAPI document; false when it is for something else. */
export type ApiDescription = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
) => boolean;

const PATH = "/openapi.json";

/**
 * Serves the OpenAPI document in a file as `/openapi.json`, by GET or HEAD, to everybody. The file
 * is read when it is first asked for, and then kept in memory, also compressed.
 */
export function createApiDescription(file: string): ApiDescription {
  let description: Promise<AnsweredDocument> | undefined;

  async function send(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): Promise<void> {
    const { headers, body } = await documentReply(
      await (description ??= read(file)),
      request.headers,
    );
    const all = ["x-request-id", requestId, ...headers];
    if (body === undefined) return void response.writeHead(304, all).end();
    // Node sends no body in answer to HEAD.
    response.writeHead(200, [...all, "content-length", String(body.length)]).end(body);
  }

  return (request, response, requestId) => {
    if ((request.url ?? "").replace(/\?.*/s, "") !== PATH) return false;
    if (request.method === "GET" || request.method === "HEAD") {
      send(request, response, requestId).catch(() => {
        description = undefined;
        const text = "The service cannot read its own description; report this.";
        sendRefusal(response, requestId, refuse("INTERNAL", text));
      });
    } else {
      refuseMethod(response, requestId, "GET, HEAD");
    }
    return true;
  };
}

async function read(file: string): Promise<AnsweredDocument> {
  const body = await readFile(file);
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
