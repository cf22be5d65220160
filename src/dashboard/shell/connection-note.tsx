import { connected } from "../api/connection.ts";
import { useStore } from "../api/store.ts";

/** Says that the service cannot be reached, as long as that is so. */
export function ConnectionNote() {
  const isConnected = useStore(connected);
  return (
    <div role="status" class="connection-note" hidden={isConnected}>
      {!isConnected &&
        "The service cannot be reached. This page goes on by itself when it is back."}
    </div>
  );
}
