import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ShipmentCount } from "../../../gen/shipments/v1/shipment_count_pb.js";
import { ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery } from "../api/use-query.ts";
import { MapPlaceholder } from "../map/map-placeholder.tsx";
import { useLocation } from "../routes/router.ts";
import { Button } from "../ui/button.tsx";
import { numberText } from "../ui/format.ts";
import { LinkChoice } from "../ui/days.tsx";
import { lazily } from "../ui/lazily.tsx";
import { QueryView } from "../ui/page.tsx";
import { countedText, loadShipments, MAX_LOADED, type ShipmentFilters } from "./newest-shipments.ts";
import { type End, ENDS } from "./route.ts";
import type { EndsProps } from "./shipment-ends.tsx";
import "./shipment-map.css";

/** Minimum time between reloads while events arrive, in milliseconds. */
const LIVE_MS = 30_000;
/** Number of shipments loaded initially. It is small because pages load one after another. */
const FIRST_LOADED = 200;

/** Component that loads the clustering code together with the map's code. */
const Ends = lazily(() => import("./shipment-ends.tsx"), "Ends", <MapPlaceholder />);

interface ShipmentMapProps {
  readonly filters: ShipmentFilters;
  readonly of: string;
  readonly empty: ComponentChildren;
}

export function ShipmentMap({ filters, of, empty }: ShipmentMapProps) {
  const end = useEnd();
  const client = useClient(ShipmentService);
  const [limit, setLimit] = useState(FIRST_LOADED);
  const list = useQuery(
    async (signal) => ({ of, ...(await loadShipments(client, filters, signal, limit)) }),
    [client, of, limit],
  );
  useLive(list.reload, undefined, LIVE_MS);
  return (
    <QueryView query={list}>
      {({ of: shownOf, shipments, isWhole }) =>
        shipments.length === 0 ? (
          empty
        ) : (
          <div class="shipment-map">
            <div class="list-bar">
              <p class="minor" role="status">
                {shownText(shipments.length, isWhole)}
              </p>
              {!isWhole && limit < MAX_LOADED && (
                <Button onClick={() => setLimit(MAX_LOADED)} busy={list.isLoading}>
                  Show up to {numberText(MAX_LOADED)}
                </Button>
              )}
              <EndChoice />
            </div>
            <Ends {...{ end, shipments }} of={shownOf} />
          </div>
        )
      }
    </QueryView>
  );
}

/** A map of a list's rows. `open` opens a mark's row. If omitted, the map shows a card instead. */
export function MapBeside(
  props: Omit<EndsProps, "end"> & {
    /** Number of shipments on all pages of the list, or `undefined` while unknown. */
    readonly listed: ShipmentCount | undefined;
    readonly isRun: boolean;
  },
) {
  const { listed, isRun, ...ends } = props;
  const end = useEnd();
  const { length } = ends.shipments;
  return (
    <div class="map-beside">
      <div class="list-bar">
        {listed && listed.count > length && (
          <p class="minor" role="status">
            {numberText(length)} of {countedText(listed)} are on the map: those of this page.
          </p>
        )}
        {isRun ? <p class="minor">Next stop of each shipment</p> : <EndChoice />}
      </div>
      <Ends end={isRun ? "next" : end} {...ends} />
    </div>
  );
}

/** Returns the end that the map shows, by default the one that is ahead. */
function useEnd(): End {
  const { query } = useLocation();
  const isInTransit = query.get("status") === String(ShipmentStatus.IN_TRANSIT);
  return ENDS.find((end) => end === query.get("end")) ?? (isInTransit ? "dropoff" : "pickup");
}

const END_CHOICES = [
  ["pickup", "Pickups"],
  ["dropoff", "Dropoffs"],
] as const;

function EndChoice() {
  return <LinkChoice label="Which end" name="end" current={useEnd()} choices={END_CHOICES} />;
}

function shownText(count: number, isWhole: boolean): string {
  const shown = `${isWhole ? "All" : "The newest"} ${numberText(count)} are on the map.`;
  return `${count === 1 ? "The shipment is on the map." : shown} Amber or red: at least half are late.`;
}
