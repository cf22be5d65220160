import { useMemo } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { LatLng } from "../map/map-geometry.ts";
import { ClusterMap } from "../map/cluster-marks.tsx";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import { stateOf } from "../ui/shipment-states.ts";
import { type End, ENDS, pointAt } from "./route.ts";
import { Late, toneOf, useDelayOf } from "./lateness.tsx";
import { AlertOrState } from "./shipment-badge.tsx";
import { nextStopOf } from "./next-stop.ts";

/** Stops on a map. Next stops are pickups, or dropoffs of shipments in transit. */
type ShownEnd = End | "next";

const LABELS: Readonly<Record<ShownEnd, string>> = {
  next: "Next stops",
  pickup: "Pickup locations",
  dropoff: "Dropoff locations",
};

export interface EndsProps {
  readonly end: ShownEnd;
  readonly shipments: readonly Shipment[];
  /** Filters used to load the shipments. */
  readonly of: string;
  /** Location of the courier who has all shipments, if known. */
  readonly courier?: LatLng | undefined;
  readonly open?: ((shipment: Shipment) => void) | undefined;
}

/** A map of the shipments' stops, with nearby marks clustered. Next stops show their number in the run. */
export function Ends({ end, shipments, of, courier, open }: EndsProps) {
  const marks = useMemo(
    () => shipments.map((it) => ({ ...pointAt(it, endOf(it, end)), key: it.reference, of: it })),
    [shipments, end],
  );
  // The map moves only when the filters change, not for new bookings or the other end.
  const inView = useMemo(() => shipments.flatMap((it) => ENDS.map((each) => pointAt(it, each))), [of]);
  const delayOf = useDelayOf();
  return (
    <ClusterMap
      label={LABELS[end]}
      tone={end === "next" ? "courier" : end}
      marks={marks}
      inView={inView}
      courier={courier}
      open={open}
      nameOf={({ count, members }) => {
        const late = members(Infinity).filter(delayOf).length;
        const name = count === 1 ? members()[0]!.reference : `${numberText(count)} shipments`;
        return late === 0 ? name : `${name}, ${count === 1 ? "" : `${numberText(late)} `}late`;
      }}
      textOf={(it) => (end === "next" ? it.courier?.sequence : undefined)}
      colorOf={(members) => {
        const tones = members.flatMap((it) => delayOf(it) ?? []).map(toneOf);
        if (tones.length * 2 >= members.length) return tones.includes("bad") ? "bad" : "attention";
        const [, state] = members.length === 1 ? stateOf(members[0]!) : [];
        return state === "attention" ? undefined : state;
      }}
      card={(members, count) => (
        <>
          <ul>
            {members.map((shipment) => (
              <li key={shipment.reference}>
                <ShipmentCard {...{ shipment, end }} />
              </li>
            ))}
          </ul>
          {count > members.length && <p class="minor">and {numberText(count - members.length)} more at this place</p>}
        </>
      )}
    />
  );
}

function ShipmentCard({ shipment, end }: { readonly shipment: Shipment; readonly end: ShownEnd }) {
  const { reference, customer } = shipment;
  const delay = useDelayOf()(shipment);
  return (
    <>
      <p>
        <a href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>{" "}
        <AlertOrState {...shipment} /> {delay && <Late delay={delay} />}
      </p>
      <p>{customer?.name}</p>
      <p class="minor">{shipment[`${endOf(shipment, end)}Address` as const]}</p>
    </>
  );
}

function endOf(shipment: Shipment, end: ShownEnd): End {
  return end === "next" ? nextStopOf(shipment).end : end;
}
