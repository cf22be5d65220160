import { useState } from "preact/hooks";
import { ErrorNote } from "../inputs/error-note.tsx";
import { type Stop, stopsOf, tasksNow } from "../run/stops.ts";
import { moveFirst } from "../sync/reorder.ts";
import { paths, replaceScreen } from "./route.ts";
import { useApp } from "./state.ts";
import { StopView } from "./stop-view.tsx";

/** A stop of the run, found by one of its tasks. */
export function StopScreen({ shipment, end }: { readonly shipment: string; readonly end: string }) {
  const { state, t } = useApp();
  const stops = stopsOf(state.shipments);
  const stop = stops.find(({ tasks }) =>
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
          {state.run?.can_reorder && stop !== stops[0] && tasksNow(stop).length > 0 && <MoveFirst stop={stop} />}
        </section>
      )}
    </>
  );
}

/** The button that makes a stop the next one. It needs a connection. */
function MoveFirst({ stop }: { readonly stop: Stop }) {
  const { t, synchronize } = useApp();
  const [state, setState] = useState<"running" | "failed">();
  const move = async () => {
    setState("running");
    if (!(await moveFirst(tasksNow(stop).map(({ shipment }) => shipment.reference)))) return setState("failed");
    synchronize();
    replaceScreen(paths.run);
  };
  return (
    <div class="acts">
      <ErrorNote text={state === "failed" && t.notMoved} />
      <button type="button" class="minor" disabled={state === "running"} onClick={() => void move()}>
        {t.moveFirst}
      </button>
    </div>
  );
}
