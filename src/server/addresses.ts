import type { Logger } from "pino";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import { createAddressLookups, type AddressLookups } from "../features/addresses/address-lookups.ts";
import { createGeocoder } from "../features/addresses/geocoder-client.ts";
import type { Limiter } from "../pipeline/bounds/rate-limiter.ts";
import type { Instruments } from "./instruments.ts";

/** Creates the address lookups that use the configured geocoder. Returns `undefined` if none is configured. */
export function createAddresses(deps: {
  readonly config: Partial<Pick<Config, "geocoder" | "publicUrl">>;
  /** Monotonic clock, in milliseconds. */
  readonly monotonicMs?: () => number;
  readonly geocoderTimeoutMs?: number;
  readonly limiter: Limiter;
  readonly observeLookup: Instruments["observeLookup"];
  readonly log: Logger;
}): AddressLookups | undefined {
  const { config, limiter, observeLookup, log } = deps;
  if (config.geocoder === undefined) return undefined;
  const { monotonicMs: nowMs = () => performance.now(), geocoderTimeoutMs: timeoutMs } = deps;
  const geocoder = createGeocoder({
    ...config.geocoder,
    userAgent: userAgentOf(config.publicUrl),
    timeoutMs,
    nowMs,
    onLookup(ended) {
      observeLookup(ended);
      log[ended.outcome === "ok" ? "debug" : "warn"](ended, "geocoder asked");
    },
  });
  return createAddressLookups({
    geocoder,
    consumeLookup: (workspace, limit) => limiter.consume(`addresses of ${workspace}`, "read", limit),
    nowMs,
  });
}

/** Returns the user agent: the product with its version, and the operator's public URL. */
function userAgentOf(publicUrl: string | undefined): string {
  const product = `${manifest.name}/${manifest.version}`;
  return publicUrl === undefined ? product : `${product} (+${publicUrl})`;
}
