import { loadOnce } from "../../domain/load-once.ts";
import type { CallSpan } from "../../pipeline/call.ts";
import {
  type AddressMatch,
  type Geocoder,
  type GeocoderAdapter,
  type GeocoderOutcome,
  type GeocoderRequest,
  GeocoderUnavailable,
} from "./geocoder.ts";
import { nominatim } from "./nominatim.ts";
import { pelias } from "./pelias.ts";
import { photon } from "./photon.ts";

const ADAPTERS = { photon, nominatim, pelias } satisfies Record<string, GeocoderAdapter>;

export type GeocoderKind = keyof typeof ADAPTERS;

/** A finished request to the geocoder, without the search text. */
export interface CompletedLookup {
  readonly geocoder: GeocoderKind;
  readonly outcome: GeocoderOutcome;
  readonly durationMs: number;
  /** HTTP status. `undefined` if there was no response. */
  readonly status: number | undefined;
  /** `undefined` if the outcome is `ok`. */
  readonly error: string | undefined;
}

export interface GeocoderOptions {
  readonly kind: GeocoderKind;
  readonly url: string;
  readonly key: { readonly header: string; readonly value: string } | undefined;
  /** Attribution. `undefined` for the default of the geocoder kind. */
  readonly attribution: string | undefined;
  /** `User-Agent` header. Public geocoders require callers to identify themselves. */
  readonly userAgent: string;
  /** Timeout of a request in milliseconds. Defaults to 1,000. */
  readonly timeoutMs?: number | undefined;
  /** Monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  readonly onLookup: (ended: CompletedLookup) => void;
}

interface Lookup {
  readonly request: GeocoderRequest;
  readonly read: (answer: unknown) => readonly AddressMatch[];
  readonly span: CallSpan | undefined;
}

/** Default timeout in milliseconds, from the name resolution to the end of the response. */
const TIMEOUT_MS = 1_000;
/** Maximum size of a response in bytes. Ten addresses take at most 20 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_IN_FLIGHT = 32;
/** Default and maximum pause after a 429, in seconds. */
const PAUSE = { usual: 10, most: 600 } as const;

const CONNECTIONS = {
  connections: MAX_IN_FLIGHT,
  pipelining: 1,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
} as const;

/**
 * Creates the client of a geocoder. It sends no requests during a pause that the geocoder has
 * requested. It does not follow redirects, so that requests go only to the configured address.
 */
export function createGeocoder(options: GeocoderOptions): Geocoder {
  const { kind, key, userAgent, timeoutMs = TIMEOUT_MS, nowMs } = options;
  const adapter: GeocoderAdapter = ADAPTERS[kind];
  const own = { accept: "application/json", "user-agent": userAgent };
  const headers = key === undefined ? own : { ...own, [key.header]: key.value };
  const client = loadOnce(() => loadClient(timeoutMs));
  let pausedUntilMs = -Infinity;
  let inFlight = 0;

  async function send(request: GeocoderRequest, noteStatus: (status: number) => void) {
    const { request: sendRequest, agent: dispatcher } = await client.get();
    const signal = AbortSignal.timeout(timeoutMs);
    const url = addressOf(options.url, request);
    const response = await sendRequest(url, { headers, dispatcher, signal });
    const { statusCode, body } = response;
    noteStatus(statusCode);
    if (statusCode === 200) return readBounded(body);
    await body.dump({ limit: MAX_ANSWER_BYTES, signal });
    if (statusCode !== 429) {
      const text = `The geocoder responded with status ${statusCode}.`;
      throw new GeocoderUnavailable("failed", text);
    }
    const seconds = pauseOf([response.headers["retry-after"]].flat()[0]);
    pausedUntilMs = nowMs() + seconds * 1_000;
    throw rateLimited(seconds);
  }

  async function lookup(request: Lookup): Promise<readonly AddressMatch[]> {
    const pausedSeconds = Math.ceil((pausedUntilMs - nowMs()) / 1_000);
    if (pausedSeconds > 0) throw rateLimited(pausedSeconds);
    if (inFlight >= MAX_IN_FLIGHT) {
      throw new GeocoderUnavailable("limited", "The geocoder is overloaded.");
    }
    inFlight++;
    try {
      return await observe(request, options, send);
    } finally {
      inFlight--;
    }
  }

  return {
    attribution: options.attribution ?? adapter.attribution,
    async search(query, span) {
      const request = adapter.searchRequest(query);
      return (await lookup({ request, read: adapter.readSearch, span })).slice(0, query.limit);
    },
    async reverse(point, span) {
      const request = adapter.reverseRequest(point);
      return (await lookup({ request, read: adapter.readReverse, span })).slice(0, 1);
    },
    async close() {
      await (await client.peek())?.agent.destroy();
    },
  };
}

/**
 * Runs a lookup and reports its outcome and duration.
 *
 * @throws GeocoderUnavailable
 */
async function observe(
  { request, read, span }: Lookup,
  { kind: geocoder, url, onLookup }: GeocoderOptions,
  send: (request: GeocoderRequest, noteStatus: (status: number) => void) => Promise<string>,
): Promise<readonly AddressMatch[]> {
  // Traces the URL without its parameters, which contain the address.
  const traced = span?.isRecorded ? span.beginRequest("GET", url + request.path) : undefined;
  const startedMs = performance.now();
  let status: number | undefined;
  const end = (outcome: GeocoderOutcome, error?: string) => {
    traced?.end({ status, error });
    onLookup({ geocoder, outcome, durationMs: performance.now() - startedMs, status, error });
  };
  try {
    const found = readAnswer(await send(request, (given) => (status = given)), read);
    end("ok");
    return found;
  } catch (error) {
    const failure = error instanceof GeocoderUnavailable ? error : unanswered(error);
    end(failure.outcome, failure.message);
    throw failure;
  }
}

function readAnswer(text: string, read: Lookup["read"]): readonly AddressMatch[] {
  try {
    return read(JSON.parse(text));
  } catch {
    throw new GeocoderUnavailable("failed", "The geocoder's response is not valid.");
  }
}

/** Loads the HTTP client on the first request, which saves several MiB of memory in a service without a geocoder. */
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
      throw new GeocoderUnavailable("failed", "The geocoder's response is too large.");
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

function rateLimited(seconds: number): GeocoderUnavailable {
  return new GeocoderUnavailable("limited", "The geocoder's rate limit was reached.", seconds);
}

function unanswered(error: unknown): GeocoderUnavailable {
  const isLate = error instanceof Error && /timeout/i.test(error.name);
  const why = isLate ? "The geocoder did not respond in time." : "The geocoder did not respond.";
  return new GeocoderUnavailable("unanswered", why);
}

/** Returns the pause that `Retry-After` requests (RFC 9110, 10.2.3), in whole seconds, within bounds. */
function pauseOf(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return PAUSE.usual;
  const seconds = /^\d{1,9}$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? PAUSE.usual : Math.min(PAUSE.most, Math.max(1, seconds));
}
