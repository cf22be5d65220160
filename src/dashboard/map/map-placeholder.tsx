import { Spinner } from "../ui/page.tsx";
import "./map.css";

/** Reserves the space of a map that is loading. */
export function MapPlaceholder() {
  return (
    <div class="map">
      <Spinner label="Loading the map" />
    </div>
  );
}
