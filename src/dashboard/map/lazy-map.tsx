import { useEffect, useMemo, useState } from "preact/hooks";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { Spinner } from "../ui/query-view.tsx";
import type { LatLng, Zones } from "./map-geometry.ts";
import type { MapProps, ZoneMap } from "./map.tsx";
import "./map.css";

/** A `ZoneMap`, whose code is loaded when the first one is shown. */
export function LazyMap(props: MapProps) {
  const [Component, setComponent] = useState<typeof ZoneMap>();
  useEffect(() => {
    void import("./map.tsx").then(({ ZoneMap }) => setComponent(() => ZoneMap));
  }, []);
  if (Component === undefined) return <MapRoom />;
  return <Component {...props} />;
}

/** Keeps the place of a map that is still loading. */
function MapRoom() {
  return (
    <div class="map">
      <Spinner label="Loading the map" />
    </div>
  );
}

/** How far outlines on a map may differ from the true ones, in metres. */
const TOLERANCE_M = 50;

/**
 * The map of where deliveries are served, with the way from pickup to dropoff as far as they are
 * known.
 */
export function CoverageMap(props: {
  readonly label: string;
  readonly pickup?: LatLng | undefined;
  readonly dropoff?: LatLng | undefined;
  readonly onPick?: (place: LatLng) => void;
}) {
  const { label, pickup, dropoff, onPick } = props;
  const coverage = useClient(CoverageService);
  const { data, isLoading } = useQuery(
    async (signal) => {
      const { geojson } = await coverage.getCoverage({ toleranceM: TOLERANCE_M }, { signal });
      return [{ zones: JSON.parse(new TextDecoder().decode(geojson)) as Zones }];
    },
    [coverage],
  );
  const points = useMemo(
    () => [
      ...(pickup ? [{ name: "Pickup", ...pickup }] : []),
      ...(dropoff ? [{ name: "Dropoff", ...dropoff }] : []),
    ],
    [pickup?.lat, pickup?.lng, dropoff?.lat, dropoff?.lng],
  );
  if (data === undefined && isLoading) return <MapRoom />;
  return <LazyMap label={label} layers={data ?? []} points={points} onPick={onPick} />;
}
