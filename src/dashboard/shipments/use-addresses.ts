import { geoDistance } from "d3-geo";
import { useRef } from "preact/hooks";
import {
  AddressPrecision,
  AddressService,
  type Address,
} from "../../../gen/shipments/v1/address_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useDebounced, useQuery } from "../api/use-query.ts";
import type { LatLng } from "../map/map-geometry.ts";

/** How long nothing is typed before it is searched, in milliseconds. */
const PAUSE_MS = 250;
/** With fewer characters nothing is searched. */
const MIN_LENGTH = 3;
/** The most that is searched by. */
const MAX_LENGTH = 200;

interface Found {
  readonly text: string;
  readonly data: readonly Address[];
  readonly attribution: string;
}

/** Addresses that match what is typed, near a place; of nothing while that is not wanted. */
export function useFoundAddresses(
  typed: string,
  near: LatLng | undefined,
  isWanted: boolean,
): Query<Found> {
  const addresses = useClient(AddressService);
  const text = useDebounced(typed.trim(), PAUSE_MS);
  const query = isWanted && text.length >= MIN_LENGTH ? text.slice(0, MAX_LENGTH) : undefined;
  return useQuery(
    async (signal) => {
      if (query === undefined) return { text: "", data: [], attribution: "" };
      const found = await addresses.searchAddresses({ query, ...near }, { signal });
      return { text: query, ...found };
    },
    [addresses, query, near?.lat, near?.lng],
  );
}

/** How far an address and its point may be apart before that is said, in kilometres. */
const FAR_KM = 0.5;

/**
 * How far a point is from the address that was typed for it, in kilometres; undefined when that is not far, or
 * not known: a town or a quarter is everywhere within it.
 */
export function useDistance(
  typed: string,
  place: LatLng | undefined,
  isWanted: boolean,
): number | undefined {
  const isKnown = isWanted && place !== undefined;
  const { data } = useFoundAddresses(typed, place, isKnown);
  if (!isKnown || data === undefined || data.text !== typed.trim()) return undefined;
  const exact = data.data.filter(({ precision }) => precision !== AddressPrecision.AREA);
  if (exact.length === 0 || exact.length < data.data.length) return undefined;
  const nearestKm = Math.min(...exact.map((address) => distanceKm(address, place)));
  return nearestKm > FAR_KM ? nearestKm : undefined;
}

const EARTH_RADIUS_KM = 6371.0088;

function distanceKm(from: LatLng, to: LatLng): number {
  return EARTH_RADIUS_KM * geoDistance([from.lng, from.lat], [to.lng, to.lat]);
}

/**
 * Gives the address at a point and whose data it is; nothing where there is none, and "outdated" when another
 * one is asked for before it is known, also of no point.
 */
export function useAddressAt() {
  const addresses = useClient(AddressService);
  const last = useRef<AbortController>(undefined);
  return async (place: LatLng | undefined) => {
    last.current?.abort();
    const { signal } = (last.current = new AbortController());
    if (place === undefined) return undefined;
    try {
      const { data, attribution } = await addresses.reverseGeocode(place, { signal });
      const [address] = data;
      if (signal.aborted) return "outdated";
      return address && { text: address.label, credit: attribution };
    } catch {
      // The address can be typed.
      return signal.aborted ? "outdated" : undefined;
    }
  };
}
