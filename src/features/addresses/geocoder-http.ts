import { loadOnce } from "../../domain/load-once.ts";
import { type GeocoderRequest, GeocoderUnavailable } from "./geocoder.ts";

/** How long a request may take, from resolving the name to the end of the answer. */
const TIMEOUT_MS = 1_000;
/** How large an answer may be: ten addresses take 20 KiB at most. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** How many requests may be in flight in this process. */
export const MAX_IN_FLIGHT = 32;
/** How long to pause after a 429, in seconds. */
const PAUSE = { usual: 10, most: 600 } as const;

const CONNECTIONS = {
  connections: MAX_IN_FLIGHT,
  pipelining: 1,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
} as const;

export interface GeocoderHttp {
  /** How long the pause that it wants still takes, in whole seconds; 0 for none. */
  pausedForSeconds(): number;
  /**
   * Gives the body of an answer, at most 256 KiB.
   *
   * @param noteStatus called with the status as soon as there is one
   * @throws GeocoderUnavailable when there is none
   */
  get(asked: GeocoderRequest, noteStatus: (status: number) => void): Promise<string>;
  close(): Promise<void>;
}

/**
 * Builds what sends requests. Redirects are not followed, so that requests go to its own address
 * alone.
 */
export function createGeocoderHttp(options: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
  readonly nowMs: () => number;
}): GeocoderHttp {
  const { url, headers, timeoutMs = TIMEOUT_MS, nowMs } = options;
  const client = loadOnce(() => loadClient(timeoutMs));
  let pausedUntilMs = -Infinity;

  async function send(asked: GeocoderRequest, noteStatus: (status: number) => void) {
    const { request: sendRequest, agent: dispatcher } = await client.get();
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await sendRequest(addressOf(url, asked), { headers, dispatcher, signal });
    const { statusCode, body } = response;
    noteStatus(statusCode);
    if (statusCode === 200) return readBounded(body);
    await body.dump({ limit: MAX_ANSWER_BYTES, signal });
    if (statusCode !== 429) {
      throw new GeocoderUnavailable(
        "failed",
        `The geocoder answers with the status ${statusCode}.`,
      );
    }
    const seconds = pauseOf([response.headers["retry-after"]].flat()[0]);
    pausedUntilMs = nowMs() + seconds * 1_000;
    throw new GeocoderUnavailable("limited", "The geocoder is asked too often.", seconds);
  }

  return {
    pausedForSeconds: () => Math.max(0, Math.ceil((pausedUntilMs - nowMs()) / 1_000)),
    async get(asked, noteStatus) {
      try {
        return await send(asked, noteStatus);
      } catch (error) {
        throw error instanceof GeocoderUnavailable ? error : unanswered(error);
      }
    },
    async close() {
      await (await client.peek())?.agent.destroy();
    },
  };
}

/** Not before the first request: it is some MiB, which a service without a geocoder saves. */
async function loadClient(timeoutMs: number) {
  const { Agent, request } = await import("undici");
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const agent = new Agent({ ...CONNECTIONS, ...limits, connect: { timeout: timeoutMs } });
  return { request, agent };
}

function addressOf(url: string, { path, parameters }: GeocoderRequest): string {
  const all = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
  return `${url}${path}?${new URLSearchParams(all).toString()}`;
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      throw new GeocoderUnavailable("failed", "The answer of the geocoder is too large.");
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

function unanswered(error: unknown): GeocoderUnavailable {
  const isLate = error instanceof Error && /timeout/i.test(error.name);
  const why = isLate ? "The geocoder does not answer in time." : "The geocoder does not answer.";
  return new GeocoderUnavailable("unanswered", why);
}

/** How long `Retry-After` wants, in whole seconds (RFC 9110, 10.2.3), within bounds. */
function pauseOf(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return PAUSE.usual;
  const seconds = /^\d{1,9}$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? PAUSE.usual : Math.min(PAUSE.most, Math.max(1, seconds));
}
