import { useMemo } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { LatLng } from "../map/map-geometry.ts";
import { ClusterMap } from "../map/cluster-marks.tsx";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import { stateOf } from "../ui/shipment-states.ts";
import { type End, ENDS, pointAt } from "./route.ts";
import { AlertOrState } from "./shipment-badge.tsx";

export interface EndsProps {
  /** Whether the map shows pickups or dropoffs. */
  readonly end: End;
  readonly shipments: readonly Shipment[];
  /** Filters used to load the shipments. */
  readonly of: string;
  /** Location of the courier who has all shipments, if known. */
  readonly courier?: LatLng | undefined;
  readonly open?: ((shipment: Shipment) => void) | undefined;
}

/** A map of the shipments' pickups or dropoffs, with nearby marks clustered. */
export function Ends({ end, shipments, of, courier, open }: EndsProps) {
  const marks = useMemo(
    () => shipments.map((it) => ({ ...pointAt(it, end), key: it.reference, of: it })),
    [shipments, end],
  );
  // The map moves only when the filters change, not for new bookings or the other end.
  const inView = useMemo(() => shipments.flatMap((it) => ENDS.map((each) => pointAt(it, each))), [of]);
  return (
    <ClusterMap
      label={end === "pickup" ? "Pickup locations" : "Dropoff locations"}
      tone={end}
      marks={marks}
      inView={inView}
      courier={courier}
      open={open}
      nameOf={({ count, members }) => (count === 1 ? members()[0]!.reference : `${numberText(count)} shipments`)}
      colorOf={(shipment) => stateOf(shipment)[1]}
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

function ShipmentCard({ shipment, end }: { readonly shipment: Shipment; readonly end: End }) {
  const { reference, customer } = shipment;
  return (
    <>
      <p>
        <a href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>{" "}
        <AlertOrState {...shipment} />
      </p>
      <p>{customer?.name}</p>
      <p class="minor">{shipment[`${end}Address`]}</p>
    </>
  );
}
