import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import type { LatLng } from "../map/map-geometry.ts";
import "./zone-chip.css";

type Zones = ReadonlyMap<string, string>;

const NONE: Zones = new Map();

const ZonesOfPoints = createContext(NONE);

/** Asks for the zones of up to 50 shipments at once, so that what is within can show them. */
export function WithZones(props: {
  readonly shipments: readonly Shipment[];
  readonly children: ComponentChildren;
}) {
  const coverage = useClient(CoverageService);
  const ends = props.shipments.flatMap((shipment) => [
    { lat: shipment.pickupLat, lng: shipment.pickupLng },
    { lat: shipment.dropoffLat, lng: shipment.dropoffLng },
  ]);
  const points = new Map(ends.map((end) => [keyOf(end), end]));
  const keys = [...points.keys()];
  // Without an answer there are no chips, and all else is there.
  const { data: zones = NONE } = useQuery(
    async (signal): Promise<Zones> => {
      if (keys.length === 0) return NONE;
      const { data } = await coverage.findZones({ points: [...points.values()] }, { signal });
      return new Map(data.flatMap(({ zone }, i) => (zone ? [[keys[i]!, zone.name]] : [])));
    },
    [coverage, keys.join(" ")],
  );
  return <ZonesOfPoints.Provider value={zones}>{props.children}</ZonesOfPoints.Provider>;
}

export function ZoneChip(point: LatLng) {
  const name = useContext(ZonesOfPoints).get(keyOf(point));
  if (name === undefined) return null;
  return (
    <span class="zone-chip" title={`Zone: ${name}`}>
      {name}
    </span>
  );
}

function keyOf({ lat, lng }: LatLng): string {
  return `${lat},${lng}`;
}
