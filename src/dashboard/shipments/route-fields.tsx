import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { AddressService } from "../../../gen/shipments/v1/address_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import type { LatLng } from "../map/map-geometry.ts";
import { TextField } from "../ui/fields.tsx";
import { useFormProblem } from "../ui/form.tsx";
import { AddressField, useAddressAt } from "./address-field.tsx";
import { placeIn, type End, fieldsAt, placeOf, type RouteText, typed } from "./route.ts";
import "./shipments.css";

const ENDS: readonly (readonly [End, label: string])[] = [
  ["pickup", "Pickup"],
  ["dropoff", "Dropoff"],
];

const OTHER: Readonly<Record<End, End>> = { pickup: "dropoff", dropoff: "pickup" };

interface Props {
  readonly route: RouteText;
  readonly change: (changes: Partial<RouteText>) => void;
  readonly addresses?: Readonly<Record<End, string>>;
  /** For whom it is; their recent addresses are suggested. */
  readonly customer?: bigint | undefined;
}

interface EndAddress {
  readonly text: string;
  /** Whether the reader typed it: then it is never replaced by what is found. */
  readonly isTyped: boolean;
  /** Whose data it is, where it was found by its point. */
  readonly credit?: string;
}

/**
 * Fields for both ends of a route and the weight, named as in requests, with a map on which the ends
 * can be clicked and moved. The addresses are fields of the form alone.
 */
export function RouteFields(props: Props) {
  const { route, change } = props;
  const [picked, setPicked] = useState<End>("pickup");
  const hasSearch = useRpc(WorkspaceService.method.getWorkspace, {}).data?.data?.addressSearch;
  const ends = useEnds(props, hasSearch === true);
  const recent = useRecent(props.customer);
  return (
    <>
      {ENDS.map(([end, label]) => (
        <div key={end} onFocusIn={() => setPicked(end)}>
          <AddressField
            name={`${end}_address`}
            label={`${label} address`}
            value={ends.addresses[end].text}
            isTyped={ends.addresses[end].isTyped}
            credit={ends.addresses[end].credit}
            place={placeOf(route, end)}
            near={placeOf(route, OTHER[end])}
            recent={recent}
            hasSearch={hasSearch === true}
            type={(text) => ends.put(end, text, true)}
            choose={(place, address) => void ends.choose(end, place, address)}
          />
        </div>
      ))}
      <div>
        <Segments
          name="picked"
          legend={<legend>A click on the map sets the</legend>}
          choices={ENDS}
          chosen={picked}
          choose={setPicked}
        />
        <CoverageMap
          label={`Coverage. A click sets the ${picked}`}
          pickup={placeOf(route, "pickup")}
          dropoff={placeOf(route, "dropoff")}
          onPick={(place) => {
            void ends.choose(picked, place);
            setPicked("dropoff");
          }}
          onMove={(end, place) => void ends.choose(end, place)}
        />
      </div>
      {ENDS.map(([end, label]) => (
        <div key={end} onFocusIn={() => setPicked(end)}>
          <Coordinates {...{ end, label, route, change }} isOpen={hasSearch === false} />
        </div>
      ))}
      <WeightField route={route} change={change} />
    </>
  );
}

function WeightField({ route, change }: Pick<Props, "route" | "change">) {
  return (
    <div class="place-fields">
      <TextField
        name="weight_kg"
        label="Weight in kg"
        numeric
        value={route.weight_kg}
        onInput={(text) => change({ weight_kg: text })}
      />
    </div>
  );
}

function useEnds({ change, addresses: first }: Props, hasSearch: boolean) {
  const [addresses, setAddresses] = useState<Readonly<Record<End, EndAddress>>>({
    pickup: { text: first?.pickup ?? "", isTyped: first !== undefined },
    dropoff: { text: first?.dropoff ?? "", isTyped: first !== undefined },
  });
  const addressAt = { pickup: useAddressAt(), dropoff: useAddressAt() };
  const put = (end: End, text: string, isTyped: boolean) =>
    setAddresses((before) => ({ ...before, [end]: { text, isTyped: isTyped && text !== "" } }));
  return {
    addresses,
    put,
    /** Sets a point with its address; without one, that is found, unless one was typed. */
    async choose(end: End, place: LatLng, address?: string) {
      change(fieldsAt(end, place));
      const found = await addressAt[end](hasSearch && address === undefined ? place : undefined);
      if (address !== undefined) return put(end, address, false);
      if (found === "outdated") return;
      setAddresses((before) => {
        const { text, isTyped } = before[end];
        const isKept = isTyped && placeIn(text) === undefined;
        if (isKept) return before;
        // The address of a point before stays, as one that was typed: it may be far from this point.
        const kept = { ...before[end], isTyped: text !== "" };
        return { ...before, [end]: found === undefined ? kept : { ...found, isTyped: false } };
      });
    },
  };
}

function Coordinates(
  props: Pick<Props, "route" | "change"> & {
    readonly end: End;
    readonly label: string;
    readonly isOpen: boolean;
  },
) {
  const { end, label, route, change, isOpen } = props;
  const { fields = {} } = useFormProblem() ?? {};
  const isRefused = `${end}_lat` in fields || `${end}_lng` in fields;
  const place = placeOf(route, end);
  return (
    <details class="coordinates" open={isOpen || isRefused}>
      <summary>
        {label} coordinates
        <span class="minor">{place ? `${place.lat}, ${place.lng}` : "not set"}</span>
      </summary>
      <div class="place-fields pair">
        {(["lat", "lng"] as const).map((field) => (
          <TextField
            key={field}
            name={`${end}_${field}`}
            label={`${label} ${field === "lat" ? "latitude" : "longitude"}`}
            numeric
            value={route[`${end}_${field}`]}
            onInput={(text) => change(typed(end, field, text))}
          />
        ))}
      </div>
      <p class="hint">Both can be pasted into one of them, and so can the address of a map.</p>
    </details>
  );
}

const MAX_RECENT = 5;

function useRecent(customer: bigint | undefined) {
  const { data } = useRpc(
    AddressService.method.listRecentAddresses,
    customer === undefined ? undefined : { customer, limit: MAX_RECENT },
  );
  return data?.data ?? [];
}

/** One of a few, chosen beside each other. */
export function Segments<T extends string>(props: {
  readonly name: string;
  readonly legend: ComponentChildren;
  readonly choices: readonly (readonly [T, label: string])[];
  readonly chosen: T;
  readonly choose: (choice: T) => void;
}) {
  return (
    <fieldset class="segments">
      {props.legend}
      {props.choices.map(([choice, label]) => (
        <label key={choice}>
          <input
            type="radio"
            name={props.name}
            checked={props.chosen === choice}
            onChange={() => props.choose(choice)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
