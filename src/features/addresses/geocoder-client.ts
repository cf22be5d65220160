import type { CallSpan } from "../../pipeline/call.ts";
import {
  type FoundAddress,
  type Geocoder,
  type GeocoderAdapter,
  type GeocoderOutcome,
  type GeocoderRequest,
  GeocoderUnavailable,
} from "./geocoder.ts";
import { createGeocoderHttp, type GeocoderHttp, MAX_IN_FLIGHT } from "./geocoder-http.ts";
import { nominatim } from "./nominatim.ts";
import { pelias } from "./pelias.ts";
import { photon } from "./photon.ts";

const ADAPTERS = { photon, nominatim, pelias } satisfies Record<string, GeocoderAdapter>;

export type GeocoderKind = keyof typeof ADAPTERS;

/** A request to the geocoder that has ended; holds nothing of what was searched for. */
export interface EndedLookUp {
  readonly geocoder: GeocoderKind;
  readonly outcome: GeocoderOutcome;
  readonly durationMs: number;
  /** Undefined without a response. */
  readonly status: number | undefined;
  /** Undefined where the outcome is `ok`. */
  readonly error: string | undefined;
}

export interface GeocoderOptions {
  readonly kind: GeocoderKind;
  /** Where its paths begin. */
  readonly url: string;
  readonly key: { readonly header: string; readonly value: string } | undefined;
  /** Undefined for the usual one of its kind. */
  readonly attribution: string | undefined;
  /** Public geocoders want to know their callers. */
  readonly userAgent: string;
  /** How long a request may take, in milliseconds; 1,000 unless a test says otherwise. */
  readonly timeoutMs?: number | undefined;
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number;
  readonly onLookUp: (ended: EndedLookUp) => void;
}

interface LookUp {
  readonly request: GeocoderRequest;
  readonly read: (answer: unknown) => readonly FoundAddress[];
  /** Of the call that it is sent for. */
  readonly span: CallSpan | undefined;
}

/** Builds the client of a geocoder; while that wants a pause, nothing is sent. */
export function createGeocoder(options: GeocoderOptions): Geocoder {
  const { kind, key, userAgent, url, timeoutMs, nowMs } = options;
  const adapter: GeocoderAdapter = ADAPTERS[kind];
  const own = { accept: "application/json", "user-agent": userAgent };
  const headers = key === undefined ? own : { ...own, [key.header]: key.value };
  const http = createGeocoderHttp({ url, timeoutMs, nowMs, headers });
  let inFlight = 0;

  async function lookUp(given: LookUp): Promise<readonly FoundAddress[]> {
    const pausedSeconds = http.pausedForSeconds();
    if (pausedSeconds > 0) {
      throw new GeocoderUnavailable("limited", "The geocoder is asked too often.", pausedSeconds);
    }
    if (inFlight >= MAX_IN_FLIGHT) {
      throw new GeocoderUnavailable("limited", "The geocoder has too much to answer.");
    }
    inFlight++;
    try {
      return await sendObserved(http, given, options);
    } finally {
      inFlight--;
    }
  }

  return {
    attribution: options.attribution ?? adapter.attribution,
    async search(query, span) {
      const request = adapter.searchRequest(query);
      return (await lookUp({ request, read: adapter.readSearch, span })).slice(0, query.limit);
    },
    async reverse(point, span) {
      const request = adapter.reverseRequest(point);
      return (await lookUp({ request, read: adapter.readReverse, span })).slice(0, 1);
    },
    close: http.close,
  };
}

/** @throws GeocoderUnavailable */
async function sendObserved(
  http: GeocoderHttp,
  { request, read, span }: LookUp,
  { kind: geocoder, url, onLookUp }: GeocoderOptions,
): Promise<readonly FoundAddress[]> {
  // Without the parameters, which hold the address.
  const traced = span?.isRecorded ? span.beginRequest("GET", url + request.path) : undefined;
  const startedMs = performance.now();
  let status: number | undefined;
  const end = (outcome: GeocoderOutcome, error?: string) => {
    traced?.end({ status, error });
    onLookUp({ geocoder, outcome, durationMs: performance.now() - startedMs, status, error });
  };
  try {
    const found = readAnswer(await http.get(request, (given) => (status = given)), read);
    end("ok");
    return found;
  } catch (error) {
    const { outcome, message } = error as GeocoderUnavailable;
    end(outcome, message);
    throw error;
  }
}

function readAnswer(text: string, read: LookUp["read"]): readonly FoundAddress[] {
  try {
    return read(JSON.parse(text));
  } catch {
    throw new GeocoderUnavailable("failed", "The answer of the geocoder cannot be read.");
  }
}
