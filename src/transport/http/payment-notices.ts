import type { IncomingMessage } from "node:http";
import { refuse, unavailable, type Refusal } from "../../domain/refusal.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import { splitUrl } from "../connect/request-target.ts";
import { readBody } from "./read-body.ts";
import { methodNotAllowed, sendJson, sendRefusal, type HttpHandler } from "./responses.ts";

/** A notice as it came in. */
export interface HttpNotice {
  /** The name in the path. */
  readonly provider: string;
  /** The workspace that the path names; undefined when it names none. */
  readonly workspace: number | undefined;
  readonly body: Buffer;
  readonly signature: string;
}

/** Who sends notices, and what keeps them. */
export interface NoticeOptions {
  /** For each provider that the path may name, the header that signs its notices. */
  readonly signatureHeaders: Readonly<Record<string, string>>;
  /** Keeps a notice, or throws a Refusal. */
  readonly receive: (notice: HttpNotice) => Promise<void>;
}

/** The largest notice, in bytes. */
const MAX_BYTES = 1024 * 1024;
/** How many are checked and written at once. */
const MAX_AT_ONCE = 32;
/** How much of notices is kept that have not come in whole, in bytes: nobody has to have a key to send one. */
const MAX_COMING_BYTES = 32 * MAX_BYTES;
const PATH = /^\/webhooks\/([a-z]+)(?:\/([1-9]\d{0,15}))?$/;

/**
 * Builds the answer to notices of payment providers: `POST /webhooks/{provider}` for the platform's, and
 * `/webhooks/{provider}/{workspace}` for those of a workspace with a key of its own. Taken ones get 200,
 * with nothing to read.
 */
export function createPaymentNotices(
  options: NoticeOptions & {
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
  },
): HttpHandler {
  const { signatureHeaders, receive, toRefusal } = options;
  const boundComing = createComingBound();
  let atOnce = 0;

  async function take(notice: HttpNotice): Promise<void> {
    if (atOnce >= MAX_AT_ONCE) {
      throw unavailable("Too many notices come at once; try again in a moment.");
    }
    atOnce += 1;
    try {
      await receive(notice);
    } finally {
      atOnce -= 1;
    }
  }

  return (request, response, requestId) => {
    const [path] = splitUrl(request);
    const [, provider, workspace] = PATH.exec(path) ?? [];
    if (provider === undefined || !Object.hasOwn(signatureHeaders, provider)) return false;
    if (request.method !== "POST") {
      sendRefusal(response, requestId, methodNotAllowed("POST"), ["allow", "POST"]);
      return true;
    }
    const fail = (error: unknown) => sendRefusal(response, requestId, toRefusal(error, requestId));
    const of = workspace === undefined ? undefined : Number(workspace);
    try {
      const signature = request.headers[signatureHeaders[provider]!];
      if (typeof signature !== "string") {
        throw refuse("REQUEST_MALFORMED", "The notice is not signed by the payment provider.");
      }
      const takeBody = (body: Buffer) =>
        void take({ provider, workspace: of, body, signature }).then(
          () => sendJson(response, 200, requestId, {}),
          fail,
        );
      boundComing(request);
      const headers = readCallHeaders(request.rawHeaders);
      const bounds = { maxBytes: MAX_BYTES, reserve: () => undefined };
      readBody(request, headers, bounds, takeBody, fail);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

/**
 * Builds what bounds the bodies that are coming in, all together. Those that have taken longest are given
 * up first: whoever sends slowly keeps nobody else out.
 */
function createComingBound(): (request: IncomingMessage) => void {
  const bytesOf = new Map<IncomingMessage, number>();
  let bytes = 0;
  return (request) => {
    const done = () => {
      bytes -= bytesOf.get(request) ?? 0;
      bytesOf.delete(request);
    };
    bytesOf.set(request, 0);
    request.once("end", done).once("close", done);
    request.on("data", (chunk: Buffer) => {
      if (!bytesOf.has(request)) return;
      bytes += chunk.length;
      bytesOf.set(request, bytesOf.get(request)! + chunk.length);
      if (bytes > MAX_COMING_BYTES) oldest(bytesOf).destroy();
    });
  };
}

function oldest(coming: ReadonlyMap<IncomingMessage, number>): IncomingMessage {
  return coming.keys().next().value!;
}
