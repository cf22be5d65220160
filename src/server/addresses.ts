import type { Logger } from "pino";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import {
  createAddressLookUps,
  type AddressLookUps,
} from "../features/addresses/address-look-ups.ts";
import { createGeocoder } from "../features/addresses/geocoder-client.ts";
import type { Limiter } from "../pipeline/bounds/rate-limiter.ts";
import type { Instruments } from "./instruments.ts";

/** Wires look-ups of addresses to the geocoder; undefined without one. */
export function createAddresses(deps: {
  readonly config: Partial<Pick<Config, "geocoder" | "publicUrl">>;
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
  readonly geocoderTimeoutMs?: number;
  readonly limiter: Limiter;
  readonly observeLookUp: Instruments["observeLookUp"];
  readonly log: Logger;
}): AddressLookUps | undefined {
  const { config, limiter, observeLookUp, log } = deps;
  if (config.geocoder === undefined) return undefined;
  const { monotonicMs: nowMs = () => performance.now(), geocoderTimeoutMs: timeoutMs } = deps;
  const geocoder = createGeocoder({
    ...config.geocoder,
    userAgent: userAgentOf(config.publicUrl),
    timeoutMs,
    nowMs,
    onLookUp(ended) {
      observeLookUp(ended);
      log[ended.outcome === "ok" ? "debug" : "warn"](ended, "geocoder asked");
    },
  });
  return createAddressLookUps({
    geocoder,
    takeLookUp: (workspace, limit) => limiter.take(`addresses of ${workspace}`, "read", limit),
    nowMs,
  });
}

/** The product, with its version and where those who operate it can be found. */
function userAgentOf(publicUrl: string | undefined): string {
  const product = `${manifest.name}/${manifest.version}`;
  return publicUrl === undefined ? product : `${product} (+${publicUrl})`;
}
