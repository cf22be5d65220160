import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { lazily } from "../ui/lazily.tsx";
import type { LatLng, Zones } from "./map-geometry.ts";
import type { PointEnd } from "./map-pins.tsx";
import { MapRoom } from "./map-room.tsx";
import type { MapProps } from "./map.tsx";

/** A `ZoneMap`, whose code is loaded when the first one is shown. */
export const LazyMap = lazily<MapProps>(
  () => import("./map.tsx").then(({ ZoneMap }) => ZoneMap),
  MapRoom,
);

const NO_LAYERS: MapProps["layers"] = [];

/** How far outlines on a map may differ from the true ones, in metres. */
const TOLERANCE_M = 50;

/**
 * The map of where deliveries are served, with the way from pickup to dropoff as far as they are
 * known.
 */
export function CoverageMap(
  props: {
    readonly label: string;
    readonly pickup?: LatLng | undefined;
    readonly dropoff?: LatLng | undefined;
    readonly courier?: LatLng | undefined;
    /** Called with the place that the reader clicked, or chose by keys. */
    readonly onPick?: (place: LatLng) => void;
    /** Called when the reader has moved an end by its pin; without it, the pins stay where they are. */
    readonly onMove?: (end: PointEnd, place: LatLng) => void;
  } & Pick<MapProps, "inView" | "onDraw" | "children">,
) {
  const { label, pickup, dropoff, courier, onPick, onMove, ...over } = props;
  const coverage = useClient(CoverageService);
  const { data, isLoading } = useQuery(
    async (signal) => {
      const { geojson } = await coverage.getCoverage({ toleranceM: TOLERANCE_M }, { signal });
      return [{ zones: JSON.parse(new TextDecoder().decode(geojson)) as Zones }];
    },
    [coverage],
  );
  const points = [
    ...(pickup ? [{ end: "pickup" as const, ...pickup }] : []),
    ...(dropoff ? [{ end: "dropoff" as const, ...dropoff }] : []),
    ...(courier ? [{ end: "courier" as const, ...courier }] : []),
  ];
  if (data === undefined && isLoading) return <MapRoom />;
  return (
    <LazyMap
      label={label}
      layers={data ?? NO_LAYERS}
      points={points}
      onPick={onPick}
      onMove={onMove}
      {...over}
    />
  );
}
