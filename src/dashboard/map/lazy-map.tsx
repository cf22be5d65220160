import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { lazily } from "../ui/lazily.tsx";
import type { LatLng, Zones } from "./map-geometry.ts";
import type { PointEnd } from "./map-pins.tsx";
import { MapPlaceholder } from "./map-placeholder.tsx";
import type { MapView } from "./map-view.ts";
import type { MapProps } from "./map.tsx";

/** A `ZoneMap` whose code is loaded on first use. */
export const LazyMap = lazily(() => import("./map.tsx"), "ZoneMap", <MapPlaceholder />);

/** Positions the items of a list above a map at the points in their data attributes. */
export function positionMarks(list: HTMLUListElement | null, view: MapView): void {
  for (const item of list?.children ?? []) {
    const { lat, lng } = (item as HTMLElement).dataset;
    const [x, y] = view.spotOf({ lat: Number(lat), lng: Number(lng) });
    (item as HTMLElement).style.translate = `${x}px ${y}px`;
  }
}

const NO_LAYERS: MapProps["layers"] = [];

/** Maximum deviation of drawn outlines from the exact ones, in meters. */
const TOLERANCE_M = 50;

/** A map of the coverage zones with the known points of a route. */
export function CoverageMap(
  props: {
    readonly label: string;
    readonly pickup?: LatLng | undefined;
    readonly dropoff?: LatLng | undefined;
    readonly courier?: LatLng | undefined;
    /** Called with the point that the user clicked or chose with the keyboard. */
    readonly onPick?: ((point: LatLng) => void) | undefined;
    /** Called when the user has moved the pickup or dropoff pin. If omitted, pins cannot be moved. */
    readonly onMove?: (end: PointEnd, point: LatLng) => void;
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
  if (data === undefined && isLoading) return <MapPlaceholder />;
  return <LazyMap label={label} layers={data ?? NO_LAYERS} points={points} onPick={onPick} onMove={onMove} {...over} />;
}
