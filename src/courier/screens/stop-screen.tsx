import { stopsOf } from "../run/stops.ts";
import { paths } from "./route.ts";
import { useApp } from "./state.ts";
import { StopView } from "./stop-view.tsx";

/** A stop of the run, found by one of its tasks. */
export function StopScreen({ shipment, end }: { readonly shipment: string; readonly end: string }) {
  const { state, t } = useApp();
  const stop = stopsOf(state.shipments).find(({ tasks }) =>
    tasks.some((task) => task.shipment.reference === shipment && task.end === end),
  );
  return (
    <>
      <a class="back" href={paths.run}>
        {t.back}
      </a>
      {stop === undefined ? (
        <h1 tabIndex={-1}>{t.unavailable}</h1>
      ) : (
        <section class="next">
          <StopView stop={stop} heading="h1" />
        </section>
      )}
    </>
  );
}
