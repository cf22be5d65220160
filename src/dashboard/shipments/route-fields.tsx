import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../ui/fields.tsx";
import { CoverageMap } from "../map/lazy-map.tsx";
import { type End, fieldsAt, placeOf, type RouteText, typed } from "./route.ts";
import "./shipments.css";

const ENDS: readonly (readonly [End, label: string])[] = [
  ["pickup", "Pickup"],
  ["dropoff", "Dropoff"],
];

interface Props {
  readonly route: RouteText;
  readonly change: (changes: Partial<RouteText>) => void;
  /** The addresses at first. */
  readonly addresses?: Readonly<Record<End, string>>;
  /** For a price alone, which addresses do not matter to. */
  readonly withoutAddresses?: boolean;
}

/**
 * Fields for both ends of a route and the weight, named as in requests, with a map on which the ends
 * can be clicked. The addresses are fields of the form alone.
 */
export function RouteFields(props: Props) {
  const { route, change } = props;
  const [picked, setPicked] = useState<End>("pickup");
  return (
    <>
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
            change(fieldsAt(picked, place));
            setPicked("dropoff");
          }}
        />
      </div>
      {ENDS.map(([end, label]) => (
        <EndFields key={end} {...props} end={end} label={label} entered={() => setPicked(end)} />
      ))}
      <div class="place-fields">
        <TextField
          name="weight_kg"
          label="Weight in kg"
          numeric
          value={route.weight_kg}
          onInput={(text) => change({ weight_kg: text })}
        />
      </div>
    </>
  );
}

/** The fields of one end; `entered` is called when the reader gets to them. */
function EndFields(
  props: Props & { readonly end: End; readonly label: string; readonly entered: () => void },
) {
  const { end, label, route, change, addresses, withoutAddresses } = props;
  return (
    <div class={withoutAddresses ? "place-fields pair" : "place-fields"} onFocusIn={props.entered}>
      {!withoutAddresses && (
        <TextField name={`${end}_address`} label={`${label} address`} value={addresses?.[end]} />
      )}
      <TextField
        name={`${end}_lat`}
        label={`${label} latitude`}
        numeric
        value={route[`${end}_lat`]}
        onInput={(text) => change(typed(end, "lat", text))}
      />
      <TextField
        name={`${end}_lng`}
        label={`${label} longitude`}
        numeric
        value={route[`${end}_lng`]}
        onInput={(text) => change(typed(end, "lng", text))}
      />
    </div>
  );
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
