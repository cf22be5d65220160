import { isOpen, type Shipment, visitOf } from "../run/shipment.ts";
import { isLateStop, type Stop, stopsOf } from "../run/stops.ts";
import { timeText } from "./format.ts";
import { paths } from "./route.ts";
import { Settings } from "./settings.tsx";
import { useApp } from "./state.ts";
import { endsOf, StopView } from "./stop-view.tsx";

/** The run of the day: the next stop, the stops after it, and the shipments that are done. */
export function RunScreen() {
  const { state, t, position } = useApp();
  const { run, session, shipments } = state;
  const [next, ...later] = stopsOf(shipments);
  const ended = shipments.filter((it) => !isOpen(it));
  return (
    <>
      <header>
        <h1 tabIndex={-1}>{t.run}</h1>
        <p>
          {session?.workspace.name} · {session?.courier.name}
        </p>
        {position !== undefined && <p class="located">{t.locationOn}</p>}
      </header>
      {next === undefined ? (
        <p class="empty">{run === undefined ? t.loading : ended.length === 0 ? t.noStops : t.allDone}</p>
      ) : (
        <section class="next" aria-label={t.nextStop}>
          <p class="eyebrow">{t.nextStop}</p>
          <StopView stop={next} heading="h2" />
        </section>
      )}
      {later.length > 0 && <Later stops={later} />}
      {ended.length > 0 && <Ended shipments={ended} />}
      <Settings />
    </>
  );
}

function Later({ stops }: { readonly stops: readonly Stop[] }) {
  const { t } = useApp();
  return (
    <section>
      <h2>{t.laterStops}</h2>
      <ol class="stops">
        {stops.map((stop, i) => (
          <LaterStop key={`${stop.place} ${stop.tasks[0].shipment.reference}`} stop={stop} number={i + 2} />
        ))}
      </ol>
    </section>
  );
}

function LaterStop({ stop, number }: { readonly stop: Stop; readonly number: number }) {
  const { state, t, nowMs } = useApp();
  const [{ shipment, end }] = stop.tasks;
  const visit = visitOf(shipment, end);
  const details = [
    timeText(visit, t, state, nowMs),
    endsOf(stop, t),
    stop.tasks.length === 1 ? visit.contact : "",
    stop.tasks.length > 1 ? t.shipments(stop.tasks.length) : "",
  ];
  return (
    <li>
      <a href={paths.stop(shipment.reference, end)}>
        <strong>
          {number}. {visit.address}
        </strong>
        <span>
          {isLateStop(stop, nowMs) && <em class="late">{t.late}</em>} {details.filter(Boolean).join(" · ")}
        </span>
      </a>
    </li>
  );
}

function Ended({ shipments }: { readonly shipments: readonly Shipment[] }) {
  const { state, t } = useApp();
  return (
    <section>
      <h2>{t.ended}</h2>
      <ul class="ended">
        {shipments.map((shipment) => (
          <li key={shipment.reference}>
            <span>{shipment.dropoff_address}</span>
            <span>
              {t.status[shipment.status]}
              {state.acts.some((act) => act.shipment === shipment.reference) && ` · ${t.notSent}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
