import { Spinner } from "../ui/query-view.tsx";
import "./map.css";

/** Keeps the place of a map that is still loading. */
export function MapRoom() {
  return (
    <div class="map">
      <Spinner label="Loading the map" />
    </div>
  );
}
