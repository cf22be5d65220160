import type { CallSpan } from "../../pipeline/call.ts";
import {
  GeocoderUnavailable,
  type FoundAddress,
  type Geocoder,
  type GeocoderAdapter,
  type GeocoderRequest,
} from "./geocoder.ts";
import {
  createGeocoderHttp,
  type GeocoderHttp,
  type GeocoderOutcome,
  LookUpFailure,
  MAX_IN_FLIGHT,
} from "./geocoder-http.ts";
import { nominatim } from "./nominatim.ts";
import { pelias } from "./pelias.ts";
import { photon } from "./photon.ts";

/** The geocoders that can be asked. */
export type GeocoderKind = "photon" | "nominatim" | "pelias";

const ADAPTERS: Readonly<Record<GeocoderKind, GeocoderAdapter>> = { photon, nominatim, pelias };

/** A request to the geocoder that has ended; nothing of it tells what was asked. */
export interface EndedLookUp {
  readonly geocoder: GeocoderKind;
  readonly outcome: GeocoderOutcome;
  readonly durationMs: number;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Why, where the outcome is not `ok`. */
  readonly error: string | undefined;
}

/** How the geocoder is reached. */
export interface GeocoderOptions {
  readonly kind: GeocoderKind;
  /** Where its paths begin. */
  readonly url: string;
  readonly key: { readonly header: string; readonly value: string } | undefined;
  /** Undefined for what is usual of its kind. */
  readonly attribution: string | undefined;
  /** Who asks, as the policies of public geocoders want it. */
  readonly userAgent: string;
  /** How long a request may take, in milliseconds; 1,000 unless a test says otherwise. */
  readonly timeoutMs?: number | undefined;
  /** A clock that never goes back, in milliseconds. */
  readonly nowMs: () => number;
  /** Told of each request that has ended. */
  readonly onLookUp: (ended: EndedLookUp) => void;
}

/** What is asked, and how the answer is read. */
interface LookUp {
  readonly asked: GeocoderRequest;
  readonly read: (answer: unknown) => readonly FoundAddress[];
  /** Of the call that it is asked for. */
  readonly span: CallSpan | undefined;
}

/** Builds what asks a geocoder; while that wants to be left alone, it is not asked. */
export function createGeocoder(options: GeocoderOptions): Geocoder {
  const { kind, key, userAgent } = options;
  const adapter = ADAPTERS[kind];
  const headers = { accept: "application/json", "user-agent": userAgent };
  const http = createGeocoderHttp({
    ...options,
    timeoutMs: options.timeoutMs,
    headers: key === undefined ? headers : { ...headers, [key.header]: key.value },
  });
  let inFlight = 0;

  async function lookUp(given: LookUp): Promise<readonly FoundAddress[]> {
    const pausedSeconds = http.pausedForSeconds();
    if (pausedSeconds > 0) {
      throw new GeocoderUnavailable("The geocoder is asked too often.", pausedSeconds);
    }
    if (inFlight >= MAX_IN_FLIGHT) {
      throw new GeocoderUnavailable("The geocoder has too much to answer.");
    }
    inFlight++;
    try {
      return await askObserved(http, given, options);
    } finally {
      inFlight--;
    }
  }

  return {
    attribution: options.attribution ?? adapter.attribution,
    async search(query, span) {
      const asked = adapter.searchRequest(query);
      return (await lookUp({ asked, read: adapter.readSearch, span })).slice(0, query.limit);
    },
    async reverse(point, span) {
      const asked = adapter.reverseRequest(point);
      return (await lookUp({ asked, read: adapter.readReverse, span })).slice(0, 1);
    },
    close: http.close,
  };
}

/** @throws GeocoderUnavailable */
async function askObserved(
  http: GeocoderHttp,
  { asked, read, span }: LookUp,
  { kind: geocoder, url, onLookUp }: GeocoderOptions,
): Promise<readonly FoundAddress[]> {
  // Without the parameters, which tell what was asked.
  const traced = span?.isRecorded ? span.beginRequest("GET", url + asked.path) : undefined;
  const startedMs = performance.now();
  let status: number | undefined;
  const end = (outcome: GeocoderOutcome, error?: string) => {
    traced?.end({ status, error });
    onLookUp({ geocoder, outcome, durationMs: performance.now() - startedMs, status, error });
  };
  try {
    const text = await http.get(asked, (given) => (status = given));
    const found = readAnswer(text, read);
    end("ok");
    return found;
  } catch (error) {
    const { outcome, message, retryAfterSeconds } = error as LookUpFailure;
    end(outcome, message);
    throw new GeocoderUnavailable(message, retryAfterSeconds);
  }
}

/** @throws LookUpFailure when it is not what such a geocoder answers */
function readAnswer(text: string, read: LookUp["read"]): readonly FoundAddress[] {
  try {
    return read(JSON.parse(text));
  } catch {
    throw new LookUpFailure("failed", "The answer of the geocoder cannot be read.");
  }
}
