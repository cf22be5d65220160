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
import { placeIn } from "./route.ts";
import { geoDistance } from "d3-geo";
import { useClient } from "../api/clients.ts";
import { type Query, useDebounced, useQuery } from "../api/use-query.ts";

const MAX_LENGTH = 500;

interface Suggestion extends ComboboxOption {
  readonly place: LatLng;
  /** Undefined for a bare point. */
  readonly address: string | undefined;
}

/**
 * The address of one end of a route. While it is typed it suggests those that the customer used last, and those
 * that the geocoder finds, if there is one.
 */
export function AddressField(props: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Whether the reader typed it, rather than having chosen it with its point. */
  readonly isTyped: boolean;
  /** Whose data the address is; undefined where it was typed or chosen. */
  readonly credit: string | undefined;
  readonly place: LatLng | undefined;
  /** Where matches are preferred while there is no place. */
  readonly near: LatLng | undefined;
  readonly recent: readonly RecentAddress[];
  readonly hasSearch: boolean;
  readonly type: (text: string) => void;
  readonly choose: (place: LatLng, address: string | undefined) => void;
}) {
  const { value, place, hasSearch, type, choose } = props;
  const [isOpen, setOpen] = useState(false);
  const near = place ?? props.near;
  const found = useFoundAddresses(value, near, hasSearch && isOpen && props.isTyped);
  const farKm = useDistance(value, place, hasSearch && props.isTyped && !isOpen);
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
        choose={({ place: chosen, address }) => choose(chosen, address)}
        onToggle={setOpen}
        status={
          found.problem
            ? "Addresses cannot be suggested now. Type the address, and set its place on the map."
            : isSettled && options.length === 0
              ? "No address found. It can be booked as it is typed, with a place on the map."
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
          The point on the map is {numberText(Math.round(farKm * 10) / 10)} km from this address.
          Check which of them is right.
        </p>
      )}
    </div>
  );
}

function Credit({ text }: { readonly text: string }) {
  if (!text.includes("OpenStreetMap")) return <>{text}</>;
  return (
    <a
      href="https://www.openstreetmap.org/copyright"
      target="_blank"
      rel="noreferrer"
      tabIndex={-1}
    >
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
  found: Readonly<NonNullable<ReturnType<typeof useFoundAddresses>["data"]>["data"]>,
): readonly Suggestion[] {
  const point = placeIn(value);
  if (point !== undefined) {
    const label = `${point.lat}, ${point.lng}`;
    return [{ key: "point", label, note: "Point", place: point, address: undefined }];
  }
  const words = value.toLowerCase().split(/\s+/);
  const used = recent.filter(({ address }) =>
    words.every((word) => address.toLowerCase().includes(word)),
  );
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
      place: { lat, lng },
      address,
    }));
}

/** How long nothing is typed before it is searched, in milliseconds. */
const PAUSE_MS = 250;
/** With fewer characters nothing is searched. */
const MIN_LENGTH = 3;
/** The most that is searched by. */
const MAX_SOUGHT = 200;

interface Found {
  readonly text: string;
  readonly data: readonly Address[];
  readonly attribution: string;
}

/** Addresses that match what is typed, near a place; of nothing while that is not wanted. */
function useFoundAddresses(
  typed: string,
  near: LatLng | undefined,
  isWanted: boolean,
): Query<Found> {
  const addresses = useClient(AddressService);
  const text = useDebounced(typed.trim(), PAUSE_MS);
  const query = isWanted && text.length >= MIN_LENGTH ? text.slice(0, MAX_SOUGHT) : undefined;
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
function useDistance(
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
