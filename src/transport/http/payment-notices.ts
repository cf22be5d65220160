import type { IncomingMessage } from "node:http";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { UNSIGNED_NOTICES } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { addressBlock, type ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { splitUrl } from "../connect/request-target.ts";
import { readBody } from "./read-body.ts";
import { methodNotAllowed, sendJson, sendRefusal, type HttpHandler } from "./responses.ts";

export interface HttpNotice {
  /** The name in the path. */
  readonly provider: string;
  /** The workspace that the path names; undefined when it names none. */
  readonly workspace: number | undefined;
  /** Reads the body: last, since that takes as long as its sender likes. */
  readonly readBody: () => Promise<Buffer>;
  readonly signature: string;
}

export interface NoticeOptions {
  /** For each provider that the path may name, the header that signs its notices. */
  readonly signatureHeaders: Readonly<Record<string, string>>;
  /** Keeps a notice, or throws a Refusal. */
  readonly receive: (notice: HttpNotice) => Promise<void>;
}

const MAX_BYTES = 1024 * 1024;
/** How much of notices is kept that have not come in whole, in bytes: nobody has to have a key to send one. */
const MAX_COMING_BYTES = 32 * MAX_BYTES;
const PATH = /^\/webhooks\/([a-z]+)(?:\/([1-9]\d{0,15}))?$/;

/**
 * Builds the answer to notices of payment providers: `POST /webhooks/{provider}` for the platform's, and
 * `/webhooks/{provider}/{workspace}` for those of a workspace with a key of its own. Taken ones get 200,
 * with nothing to read. Those that turn out to be unsigned count against their address, so that they keep
 * none out that comes from another.
 */
export function createPaymentNotices(
  options: NoticeOptions & {
    readonly clientAddress: ClientAddress;
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
  },
): HttpHandler {
  const { signatureHeaders, receive, clientAddress, toRefusal } = options;
  const readBounded = createBoundedReader();
  const attempts = createFailedAttempts(
    () => performance.now(),
    UNSIGNED_NOTICES,
    "Too many notices from this address are not signed by the payment provider",
  );

  async function take(address: string, notice: HttpNotice): Promise<void> {
    const outcome = await attempts.make(address, async () => {
      try {
        await receive(notice);
        return "taken";
      } catch (error) {
        // A workspace's own limit says nothing of the address, from which those of others come too.
        if (error instanceof Refusal && error.reason === "RATE_LIMITED") return error;
        throw error;
      }
    });
    if (outcome instanceof Refusal) throw outcome;
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
    try {
      const signature = request.headers[signatureHeaders[provider]!];
      if (typeof signature !== "string") {
        throw refuse("REQUEST_MALFORMED", "The event is not signed by the payment provider.");
      }
      const headers = readCallHeaders(request.rawHeaders);
      const address = clientAddress(request.socket.remoteAddress, headers.forwardedFor);
      const notice = {
        provider,
        workspace: workspace === undefined ? undefined : Number(workspace),
        readBody: () => readBounded(request, headers, addressBlock(address)),
        signature,
      };
      take(address, notice).then(() => sendJson(response, 200, requestId, {}), fail);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

/**
 * Builds what reads bodies, and bounds those that are coming in, all together. Of the address from which most has come,
 * the one that has taken longest is given up first: who sends much, or slowly, keeps nobody else out.
 */
function createBoundedReader() {
  const coming = new Map<IncomingMessage, { readonly address: string; bytes: number }>();
  let total = 0;

  function heaviest(): string {
    const bytesOf = new Map<string, number>();
    for (const { address, bytes } of coming.values()) {
      bytesOf.set(address, (bytesOf.get(address) ?? 0) + bytes);
    }
    return [...bytesOf].reduce((one, other) => (other[1] > one[1] ? other : one))[0];
  }

  function bound(request: IncomingMessage, address: string): void {
    const own = { address, bytes: 0 };
    const done = () => {
      if (coming.delete(request)) total -= own.bytes;
    };
    coming.set(request, own);
    request.once("end", done).once("close", done);
    request.on("data", (chunk: Buffer) => {
      if (!coming.has(request)) return;
      own.bytes += chunk.length;
      total += chunk.length;
      if (total <= MAX_COMING_BYTES) return;
      const from = heaviest();
      [...coming].find(([, each]) => each.address === from)![0].destroy();
    });
  }

  /** @throws Refusal BODY_TOO_LARGE, or REQUEST_MALFORMED when its sender goes: else it would stay under way for ever */
  return (request: IncomingMessage, headers: CallHeaders, address: string): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const gone = () => reject(refuse("REQUEST_MALFORMED", "The notice was not sent whole."));
      if (request.closed) return gone();
      request.once("close", gone);
      bound(request, address);
      const bounds = { maxBytes: MAX_BYTES, reserve: () => undefined };
      readBody(request, headers, bounds, resolve, reject);
    });
}
