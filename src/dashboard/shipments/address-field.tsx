import { useState, useRef } from "preact/hooks";
import {
  AddressPrecision,
  type RecentAddress,
  AddressService,
  type Address,
} from "../../../gen/shipments/v1/address_service_pb.js";
import type { LatLng } from "../map/map-geometry.ts";
import { ComboboxField, type ComboboxOption } from "../ui/combobox.tsx";
import { numberText } from "../ui/format.ts";
import { pointIn } from "./route.ts";
import { geoDistance } from "d3-geo";
import { useClient } from "../api/clients.ts";
import { useDebounced, useQuery } from "../api/use-query.ts";

const MAX_LENGTH = 500;

interface Suggestion extends ComboboxOption {
  readonly point: LatLng;
  /** `undefined` for a point without an address. */
  readonly address: string | undefined;
}

/** Address field of a pickup or dropoff. Suggests the customer's recent addresses and geocoder matches. */
export function AddressField(props: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Whether the user typed the address. False if a suggestion with a point was chosen. */
  readonly isTyped: boolean;
  /** Attribution of an address that was looked up by its point, otherwise `undefined`. */
  readonly credit: string | undefined;
  readonly point: LatLng | undefined;
  /** Point near which matches rank higher until `point` is set. */
  readonly near: LatLng | undefined;
  readonly recent: readonly RecentAddress[];
  readonly hasSearch: boolean;
  readonly type: (text: string) => void;
  readonly choose: (point: LatLng, address: string | undefined) => void;
}) {
  const { value, point, hasSearch, type, choose } = props;
  const [isOpen, setOpen] = useState(false);
  const near = point ?? props.near;
  const found = useAddressMatches(value, near, hasSearch && isOpen && props.isTyped);
  const farKm = useDistance(value, point, hasSearch && props.isTyped && !isOpen);
  const isSettled = !found.isLoading && found.data?.text === value.trim();
  const options = suggestionsOf(value, props.recent, isOpen ? (found.data?.data ?? []) : []);
  return (
    <div>
      <ComboboxField
        name={props.name}
        label={props.label}
        value={value}
        maxLength={MAX_LENGTH}
        onInput={type}
        options={options}
        choose={({ point: chosen, address }) => choose(chosen, address)}
        onToggle={setOpen}
        status={
          found.problem
            ? "Address suggestions are unavailable. Type the address and set its location on the map."
            : isSettled && options.length === 0
              ? "No address found. You can book it as typed once its location is set on the map."
              : ""
        }
        credit={found.data?.attribution && <Credit text={found.data.attribution} />}
      />
      {props.credit && (
        <p class="hint">
          <Credit text={props.credit} />
        </p>
      )}
      {farKm !== undefined && (
        <p class="far" role="status">
          The point on the map is {numberText(Math.round(farKm * 10) / 10)} km from this address. Check which one is
          right.
        </p>
      )}
    </div>
  );
}

function Credit({ text }: { readonly text: string }) {
  if (!text.includes("OpenStreetMap")) return <>{text}</>;
  return (
    <a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noreferrer" tabIndex={-1}>
      {text}
    </a>
  );
}

const NOTES: Partial<Record<AddressPrecision, string>> = {
  [AddressPrecision.STREET]: "Street",
  [AddressPrecision.AREA]: "Area",
};

function suggestionsOf(
  value: string,
  recent: readonly RecentAddress[],
  found: readonly Address[],
): readonly Suggestion[] {
  const point = pointIn(value);
  if (point !== undefined) {
    const label = `${point.lat}, ${point.lng}`;
    return [{ key: "point", label, note: "Point", point, address: undefined }];
  }
  const words = value.toLowerCase().split(/\s+/);
  const used = recent.filter(({ address }) => words.every((word) => address.toLowerCase().includes(word)));
  const all = [
    ...used.map(({ address, lat, lng }) => ({ address, lat, lng, note: "Recent" })),
    ...found.map(({ label, lat, lng, precision }) => ({
      address: label,
      lat,
      lng,
      note: NOTES[precision],
    })),
  ];
  const byAddress = new Map(all.toReversed().map((each) => [each.address.toLowerCase(), each]));
  return all
    .filter((each) => byAddress.get(each.address.toLowerCase()) === each)
    .map(({ address, lat, lng, note }) => ({
      key: address,
      label: address,
      note,
      point: { lat, lng },
      address,
    }));
}

/** Time without typing before a search, in milliseconds. */
const PAUSE_MS = 250;
/** Minimum length of a search text, in characters. */
const MIN_LENGTH = 3;
/** Maximum length of a search text, in characters. */
const MAX_QUERY_LENGTH = 200;

const NONE = { text: "", data: [] as readonly Address[], attribution: "" };

/** Searches addresses that match the text, near a point. Returns none while disabled. */
function useAddressMatches(typed: string, near: LatLng | undefined, isWanted: boolean) {
  const addresses = useClient(AddressService);
  const text = useDebounced(typed.trim(), PAUSE_MS);
  const query = isWanted && text.length >= MIN_LENGTH ? text.slice(0, MAX_QUERY_LENGTH) : undefined;
  return useQuery(
    async (signal) => {
      if (query === undefined) return NONE;
      const found = await addresses.searchAddresses({ query, ...near }, { signal });
      return { text: query, ...found };
    },
    [addresses, query, near?.lat, near?.lng],
  );
}

/** Minimum distance between an address and its point for a warning, in kilometers. */
const FAR_KM = 0.5;

/**
 * Returns the distance between a typed address and its point, in kilometers. `undefined` if it is
 * small or unknown. For an address that is a town or quarter, every point in it counts as a match.
 */
function useDistance(typed: string, point: LatLng | undefined, isWanted: boolean): number | undefined {
  const isKnown = isWanted && point !== undefined;
  const { data } = useAddressMatches(typed, point, isKnown);
  if (!isKnown || data === undefined || data.text !== typed.trim()) return undefined;
  const exact = data.data.filter(({ precision }) => precision !== AddressPrecision.AREA);
  if (exact.length === 0 || exact.length < data.data.length) return undefined;
  const nearestKm = Math.min(...exact.map((address) => distanceKm(address, point)));
  return nearestKm > FAR_KM ? nearestKm : undefined;
}

const EARTH_RADIUS_KM = 6371.0088;

function distanceKm(from: LatLng, to: LatLng): number {
  return EARTH_RADIUS_KM * geoDistance([from.lng, from.lat], [to.lng, to.lat]);
}

/**
 * Returns a function that looks up the address at a point, with its attribution. It returns `undefined` if the point
 * has no address, and "outdated" if a later lookup or a reset replaced this one.
 */
export function useAddressAt() {
  const addresses = useClient(AddressService);
  const last = useRef<AbortController>(undefined);
  return async (point: LatLng | undefined) => {
    last.current?.abort();
    const { signal } = (last.current = new AbortController());
    if (point === undefined) return undefined;
    try {
      const { data, attribution } = await addresses.reverseGeocode(point, { signal });
      const [address] = data;
      if (signal.aborted) return "outdated";
      return address && { text: address.label, credit: attribution };
    } catch {
      // The lookup is optional, because the address can be typed.
      return signal.aborted ? "outdated" : undefined;
    }
  };
}
