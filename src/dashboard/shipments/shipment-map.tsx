import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery } from "../api/use-query.ts";
import { ClusterMap } from "../map/cluster-marks.tsx";
import { paths } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import { stateOf } from "../ui/shipment-states.ts";
import { numberText } from "../ui/format.ts";
import { LinkChoice } from "../ui/days.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { loadShipments, type ShipmentFilters } from "./newest-shipments.ts";
import { AlertOrState } from "./shipment-badge.tsx";
import "./shipment-map.css";

/** How often they are reloaded at most while things happen, in milliseconds. */
const LIVE_MS = 30_000;

type End = "pickup" | "dropoff";

interface ShipmentMapProps {
  readonly filters: ShipmentFilters;
  readonly of: string;
  readonly empty: ComponentChildren;
}

export function ShipmentMap({ filters, of, empty }: ShipmentMapProps) {
  const end = useEnd();
  const client = useClient(ShipmentService);
  const list = useQuery(
    async (signal) => ({ of, ...(await loadShipments(client, filters, signal)) }),
    [client, of],
  );
  useLive(list.reload, undefined, LIVE_MS);
  return (
    <QueryView query={list} quiet={list.data?.of === of}>
      {({ of: shownOf, shipments, isWhole }) =>
        shipments.length === 0 ? (
          empty
        ) : (
          <div class="shipment-map">
            <div class="list-bar">
              <p class="minor" role="status">
                {shownText(shipments.length, isWhole)}
              </p>
              <EndChoice />
            </div>
            <Ends {...{ end, shipments }} of={shownOf} />
          </div>
        )
      }
    </QueryView>
  );
}

/** The rows of a list on a map beside it; one that is chosen is opened by `open`, or has a card without it. */
export function MapBeside(props: Omit<EndsProps, "end">) {
  return (
    <div class="map-beside">
      <EndChoice />
      <Ends end={useEnd()} {...props} />
    </div>
  );
}

function useEnd(): End {
  return usePlace().query.get("end") === "dropoff" ? "dropoff" : "pickup";
}

function EndChoice() {
  const end = useEnd();
  return (
    <LinkChoice
      label="Which end"
      name="end"
      current={end === "pickup" ? "" : end}
      choices={[
        ["", "Pickups"],
        ["dropoff", "Dropoffs"],
      ]}
    />
  );
}

function shownText(count: number, isWhole: boolean): string {
  if (!isWhole) return `Only the newest ${numberText(count)} shipments are on the map.`;
  return count === 1 ? "The shipment is on the map." : `All ${numberText(count)} are on the map.`;
}

interface EndsProps {
  readonly end: End;
  readonly shipments: readonly Shipment[];
  /** What the filters were that they were loaded with. */
  readonly of: string;
  readonly open?: ((shipment: Shipment) => void) | undefined;
}

function Ends({ end, shipments, of, open }: EndsProps) {
  const marks = useMemo(
    () =>
      shipments.map((shipment) => ({
        ...pointOf(shipment, end),
        key: shipment.reference,
        of: shipment,
      })),
    [shipments, end],
  );
  // Those that are booked meanwhile do not move the map, nor does the other end.
  const inView = useMemo(
    () => shipments.flatMap((it) => [pointOf(it, "pickup"), pointOf(it, "dropoff")]),
    [of],
  );
  return (
    <ClusterMap
      label={end === "pickup" ? "Where shipments are picked up" : "Where shipments are delivered"}
      tone={end}
      marks={marks}
      inView={inView}
      open={open}
      nameOf={({ count, members }) =>
        count === 1 ? members()[0]!.reference : `${numberText(count)} shipments`
      }
      colourOf={(shipment) => stateOf(shipment)[1]}
      card={(members, count) => (
        <>
          <ul>
            {members.map((shipment) => (
              <li key={shipment.reference}>
                <ShipmentCard {...{ shipment, end }} />
              </li>
            ))}
          </ul>
          {count > members.length && (
            <p class="minor">and {numberText(count - members.length)} more at this place</p>
          )}
        </>
      )}
    />
  );
}

function ShipmentCard({ shipment, end }: { readonly shipment: Shipment; readonly end: End }) {
  const { reference, customer, pickupAddress, dropoffAddress } = shipment;
  return (
    <>
      <p>
        <a href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>{" "}
        <AlertOrState {...shipment} />
      </p>
      <p>{customer?.name}</p>
      <p class="minor">{end === "pickup" ? pickupAddress : dropoffAddress}</p>
    </>
  );
}

function pointOf(shipment: Shipment, end: End) {
  return end === "pickup"
    ? { lat: shipment.pickupLat, lng: shipment.pickupLng }
    : { lat: shipment.dropoffLat, lng: shipment.dropoffLng };
}
