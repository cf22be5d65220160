import { useState } from "preact/hooks";
import { AddressService } from "../../../gen/shipments/v1/address_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import { type LatLng, pointText } from "../map/map-geometry.ts";
import { TextField } from "../ui/fields.tsx";
import { Fold } from "../ui/fold.tsx";
import { AddressField, useAddressAt } from "./address-field.tsx";
import { atEnds, type End, ENDS, fieldsAt, type outsideOf, pointIn, pointOf, type RouteText, typed } from "./route.ts";
import "./shipments.css";

const LABELS: Readonly<Record<End, string>> = { pickup: "Pickup", dropoff: "Dropoff" };

const MAX_RECENT = 5;

const CLICK = matchMedia("(pointer: coarse)").matches ? "Tap" : "Click";

const OTHER: Readonly<Record<End, End>> = { pickup: "dropoff", dropoff: "pickup" };

interface Props {
  readonly route: RouteText;
  readonly change: (changes: Partial<RouteText>) => void;
  readonly addresses?: Readonly<Record<End, string>>;
  /** ID of the customer whose recent addresses are suggested. */
  readonly customer?: bigint | undefined;
  /** Whether addresses can be searched. If not, points are set by coordinates or on the map. */
  readonly hasSearch: boolean;
  /** Distances of pickup and dropoff from the coverage zones. */
  readonly outside: ReturnType<typeof outsideOf>;
}

interface EndAddress {
  readonly text: string;
  /** Whether the user typed the address. A lookup never replaces a typed address. */
  readonly isTyped: boolean;
  /** Attribution of an address that was looked up by its point. */
  readonly credit?: string;
}

/**
 * Fields for the weight and for a route's pickup and dropoff, named as in requests, with a map that
 * sets and moves both points. Addresses are not part of the request.
 */
export function RouteFields(props: Props) {
  const { route, change, customer, hasSearch, outside } = props;
  const ends = useEnds(props);
  const { picked, pick, focus } = usePicked(route, ends.choose);
  const hint = picked && `${CLICK} the map to set the ${picked}`;
  const recent = useRpc(
    AddressService.method.listRecentAddresses,
    customer === undefined ? undefined : { customer, limit: MAX_RECENT },
  );
  return (
    <>
      {ENDS.map((end) => (
        <div key={end} class="route-end" onFocusIn={() => focus(end)}>
          <AddressField
            name={`${end}_address`}
            label={`${LABELS[end]} address`}
            value={ends.addresses[end].text}
            isTyped={ends.addresses[end].isTyped}
            credit={ends.addresses[end].credit}
            point={pointOf(route, end)}
            near={pointOf(route, OTHER[end])}
            recent={recent.data?.data ?? []}
            hasSearch={hasSearch}
            type={(text) => ends.put(end, text, true)}
            choose={(point, address) => void ends.choose(end, point, address)}
          />
          <Degrees {...{ end, route, change, hasSearch }} />
          {outside[end] && (
            <p class="far" role="status">
              {LABELS[end]} is {outside[end]} outside the coverage zones.
            </p>
          )}
        </div>
      ))}
      <div class="route-end">
        <TextField
          name="weight_kg"
          label="Weight in kg"
          numeric
          value={route.weight_kg}
          onInput={(text) => change({ weight_kg: text })}
        />
      </div>
      <div>
        <CoverageMap
          label={hint ? `Coverage map. ${hint}` : "Coverage map"}
          pickup={pointOf(route, "pickup")}
          dropoff={pointOf(route, "dropoff")}
          onPick={pick}
          onMove={(end, point) => void ends.choose(end, point)}
        />
        <p class="hint">
          {hint && `${hint}. `}
          You can paste both coordinates or a map link into one field.
        </p>
      </div>
    </>
  );
}

/**
 * Returns the end that a click on the map sets: the one whose field had the focus last, otherwise the one without a
 * point. `undefined` if the route is complete, because a stray click must not move its points.
 */
function usePicked(route: RouteText, choose: ReturnType<typeof useEnds>["choose"]) {
  const [focused, focus] = useState<End>();
  const picked = focused ?? ENDS.find((end) => !pointOf(route, end));
  const pick =
    picked &&
    ((point: LatLng) => {
      void choose(picked, point);
      focus(undefined);
    });
  return { picked, pick, focus };
}

/** Coordinate fields of a pickup or dropoff, collapsed if addresses also set them. */
function Degrees(props: Pick<Props, "route" | "change" | "hasSearch"> & { readonly end: End }) {
  const { end, route, change, hasSearch } = props;
  const point = pointOf(route, end);
  const summary = (
    <>
      {LABELS[end]} coordinates <span class="minor">{point ? pointText(point) : "not set"}</span>
    </>
  );
  const fields = (
    <div class="field-row">
      {(["lat", "lng"] as const).map((field) => (
        <TextField
          key={field}
          name={`${end}_${field}`}
          label={`${LABELS[end]} ${field === "lat" ? "latitude" : "longitude"}`}
          numeric
          value={route[`${end}_${field}`]}
          onInput={(text) => change(typed(end, field, text))}
        />
      ))}
    </div>
  );
  if (!hasSearch) return fields;
  return (
    <Fold summary={summary} names={new RegExp(`^${end}_l(at|ng)$`)}>
      {fields}
    </Fold>
  );
}

function useEnds({ change, addresses: first, hasSearch }: Props) {
  const [addresses, setAddresses] = useState(() =>
    atEnds((end): EndAddress => ({ text: first?.[end] ?? "", isTyped: first !== undefined })),
  );
  const addressAt = { pickup: useAddressAt(), dropoff: useAddressAt() };
  const put = (end: End, text: string, isTyped: boolean) =>
    setAddresses((before) => ({ ...before, [end]: { text, isTyped: isTyped && text !== "" } }));
  return {
    addresses,
    put,
    /** Sets a point and its address. If the address is omitted, looks it up, unless one was typed. */
    async choose(end: End, point: LatLng, address?: string) {
      change(fieldsAt(end, point));
      const found = await addressAt[end](hasSearch && address === undefined ? point : undefined);
      if (address !== undefined) return put(end, address, false);
      if (found === "outdated") return;
      setAddresses((before) => {
        const { text, isTyped } = before[end];
        const isKept = isTyped && pointIn(text) === undefined;
        if (isKept) return before;
        // Keep the previous address and mark it as typed, because it may be far from the new point.
        const entered = { ...before[end], isTyped: text !== "" };
        return { ...before, [end]: found === undefined ? entered : { ...found, isTyped: false } };
      });
    },
  };
}
