import { LRUCache } from "lru-cache";
import type { Point } from "../../domain/coverage/geo.ts";
import type { RateLimit, Verdict } from "../../domain/rate-limit.ts";
import { refuse, unavailable, type Refusal } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { GeocoderUnavailable, type AddressQuery, type AddressMatch, type Geocoder } from "./geocoder.ts";

/** Looks up addresses for workspaces. `search` and `reverse` reject with a Refusal: RATE_LIMITED or UNAVAILABLE. */
export type AddressLookups = ReturnType<typeof createAddressLookups>;

/** Rate limit on a workspace's requests to the geocoder. Cached responses do not count. */
const LOOKUPS_OF_WORKSPACE: RateLimit = { rate: 10, burst: 100 };
/** Maximum number of cached responses, at most 4 KiB each, and their lifetime in milliseconds. */
const CACHE = { max: 2_000, ttl: 3_600_000 } as const;

type Found = readonly AddressMatch[];

/**
 * Creates the address lookup. Searches the cache, then the geocoder. All workspaces share the
 * cache, because the data is public.
 */
export function createAddressLookups(options: {
  readonly geocoder: Geocoder;
  /** Counts a lookup against the workspace's rate limit. */
  readonly consumeLookup: (workspace: number, limit: RateLimit) => Verdict | Promise<Verdict>;
  /** Monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
}) {
  const { geocoder, consumeLookup, nowMs } = options;
  const cache = new LRUCache<string, Found>({ ...CACHE, ttlResolution: 0, perf: { now: nowMs } });

  async function lookup(call: Call, key: string, ask: () => Promise<Found>): Promise<Found> {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { allowed, resetSeconds } = await consumeLookup(call.caller.workspaceId, LOOKUPS_OF_WORKSPACE);
    if (!allowed) throw tooMany(resetSeconds);
    try {
      const found = await ask();
      cache.set(key, found);
      return found;
    } catch (error) {
      throw error instanceof GeocoderUnavailable ? withoutAnswer(error) : error;
    }
  }

  return {
    attribution: geocoder.attribution,
    search(call: Call, { text, near, limit }: AddressQuery): Promise<readonly AddressMatch[]> {
      const words = text.split(/\s+/).join(" ");
      const query = { text: words, near: near && rounded(near, NEAR_DIGITS), limit };
      const key = JSON.stringify([words.toLowerCase(), query.near, limit]);
      return lookup(call, key, () => geocoder.search(query, call.received.span));
    },
    /** Returns at most one address. Empty if none is known. */
    reverse(call: Call, point: Point): Promise<readonly AddressMatch[]> {
      const query = rounded(point, POINT_DIGITS);
      const key = JSON.stringify(query);
      return lookup(call, key, () => geocoder.reverse(query, call.received.span));
    },
    close: geocoder.close,
  };
}

/**
 * Number of decimals of coordinates in cache keys: about a kilometer for the preferred area of a
 * search, a meter for the address at a point.
 */
const NEAR_DIGITS = 2;
const POINT_DIGITS = 5;

function rounded({ lat, lng }: Point, digits: number): Point {
  return { lat: Number(lat.toFixed(digits)), lng: Number(lng.toFixed(digits)) };
}

function tooMany(retryAfterSeconds: number): Refusal {
  const text = `The workspace has looked up too many addresses. Try again in ${retryAfterSeconds} s.`;
  return refuse("RATE_LIMITED", text, { retryAfterSeconds });
}

function withoutAnswer(error: GeocoderUnavailable): Refusal {
  const { retryAfterSeconds, message } = error;
  const facts = { waits_for: "geocoder" };
  return unavailable(`${message} Try again in ${retryAfterSeconds} s.`, error, {
    facts,
    retryAfterSeconds,
  });
}
