import type { IncomingMessage } from "node:http";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { UNSIGNED_EVENTS } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { addressBlock, type ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { splitUrl } from "../connect/request-target.ts";
import { readBody } from "./read-body.ts";
import { methodNotAllowed, sendJson, sendRefusal, type HttpHandler } from "./responses.ts";

interface HttpProviderEvent {
  /** Provider name in the path. */
  readonly provider: string;
  /** Workspace id in the path. `undefined` if there is none. */
  readonly workspace: number | undefined;
  /** Reads the body. Call it last, because it can take a long time. */
  readonly readBody: () => Promise<Buffer>;
  readonly signature: string;
}

export interface ProviderEventOptions {
  readonly signatureHeaders: Readonly<Record<string, string>>;
  /** Stores a provider event, or throws a Refusal. */
  readonly receive: (event: HttpProviderEvent) => Promise<void>;
}

const MAX_BYTES = 1024 * 1024;
/** Maximum size of incomplete events in memory, in bytes. The size is limited because senders need no key. */
const MAX_COMING_BYTES = 32 * MAX_BYTES;
const PATH = /^\/webhooks\/([a-z]+)(?:\/([1-9]\d{0,15}))?$/;

/**
 * Creates the handler of payment provider events: `POST /webhooks/{provider}` for the platform's account,
 * and `/webhooks/{provider}/{workspace}` for workspaces with their own key. Accepted events get 200
 * with an empty object. Unsigned events count against their address, so that they do not block other addresses.
 */
export function createProviderEvents(
  options: ProviderEventOptions & {
    readonly clientAddress: ClientAddress;
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
  },
): HttpHandler {
  const { signatureHeaders, receive, clientAddress, toRefusal } = options;
  const readBounded = createBoundedReader();
  const attempts = createFailedAttempts(
    UNSIGNED_EVENTS,
    "Too many events from this address are not signed by the payment provider",
  );

  async function receiveCounted(address: string, event: HttpProviderEvent): Promise<void> {
    const outcome = await attempts.make(address, async () => {
      try {
        await receive(event);
        return "stored";
      } catch (error) {
        // Exceeding a workspace's rate limit must not count against the address, because other workspaces share the
        // address.
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
      const event = {
        provider,
        workspace: workspace === undefined ? undefined : Number(workspace),
        readBody: () => readBounded(request, headers, addressBlock(address)),
        signature,
      };
      receiveCounted(address, event).then(() => sendJson(response, 200, requestId, {}), fail);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

/**
 * Creates a body reader that limits the total size of incomplete bodies. Above the limit it drops the
 * slowest body from the address with the most bytes, so that large or slow senders do not block others.
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

  /**
   * Reads a body.
   *
   * @throws Refusal BODY_TOO_LARGE, or REQUEST_MALFORMED if the sender disconnects
   */
  return (request: IncomingMessage, headers: CallHeaders, address: string): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const gone = () => reject(refuse("REQUEST_MALFORMED", "The event is incomplete."));
      if (request.closed) return gone();
      request.once("close", gone);
      bound(request, address);
      const bounds = { maxBytes: MAX_BYTES, reserve: () => undefined };
      readBody(request, headers, bounds, resolve, reject);
    });
}
