import { useState } from "preact/hooks";
import { haversineKm } from "../../domain/coverage/geo.ts";
import { ErrorNote } from "../inputs/error-note.tsx";
import { allowedActs, type ActKind } from "../run/acts.ts";
import { isLate, requiredProof, type Visit, visitOf } from "../run/shipment.ts";
import { isLateStop, type Stop, type Task, tasksNow } from "../run/stops.ts";
import { queueAct } from "../sync/outbox.ts";
import type { Texts } from "../texts/en.ts";
import { distanceText, timeText } from "./format.ts";
import { navigationUrl } from "./navigation.ts";
import { paths, replaceScreen } from "./route.ts";
import { type App, useApp } from "./state.ts";

/** Returns the tasks at a stop, such as `Pickup, Delivery`. */
export function endsOf({ tasks }: Stop, t: Texts): string {
  return [...new Set(tasks.map(({ end }) => t.stop[end]))].join(", ");
}

/** A stop with its place, contacts, shipments and acts. */
export function StopView({ stop, heading: Heading }: { readonly stop: Stop; readonly heading: "h1" | "h2" }) {
  const app = useApp();
  const { state, t, position, nowMs } = app;
  const visits = stop.tasks.map(({ shipment, end }) => visitOf(shipment, end));
  const [visit] = visits as [Visit];
  const earliest = earliestTime(visits, app);
  return (
    <>
      <p class="facts">
        <strong>{endsOf(stop, t)}</strong>
        {isLateStop(stop, nowMs) && <em class="late">{t.late}</em>}
        {position !== undefined && <span>{distanceText(haversineKm(position, visit), state.language)}</span>}
      </p>
      <Heading class="address" tabIndex={-1}>
        {visit.address}
      </Heading>
      {earliest !== "" && <p class="time">{earliest}</p>}
      <a class="button navigate" href={navigationUrl(state.navigation, visit)} rel="noreferrer">
        {t.navigate}
      </a>
      <Contacts visits={visits} />
      {[...new Set(visits.map((it) => it.instructions))].filter(Boolean).map((text) => (
        <p class="instructions">{text}</p>
      ))}
      <SharedActs tasks={tasksNow(stop)} />
      <ul class="tasks">
        {stop.tasks.map((task) => (
          <TaskView key={`${task.shipment.reference} ${task.end}`} task={task} isAlone={stop.tasks.length === 1} />
        ))}
      </ul>
    </>
  );
}

const endOf = ({ window, eta }: Visit) => window?.end ?? eta ?? "9";

/** Returns the window or expected time that ends first. */
function earliestTime(visits: readonly Visit[], { state, t, nowMs }: App): string {
  const first = visits.reduce((one, other) => (endOf(other) < endOf(one) ? other : one));
  return timeText(first, t, state, nowMs);
}

function Contacts({ visits }: { readonly visits: readonly Visit[] }) {
  const { t } = useApp();
  const contacts = new Map(visits.map(({ contact, phone }) => [`${contact} ${phone}`, { contact, phone }]));
  return (
    <ul class="contacts">
      {[...contacts.values()].map(({ contact, phone }) =>
        phone === null ? (
          contact !== null && <li>{contact}</li>
        ) : (
          <li>
            <a class="button" href={`tel:${phone}`}>
              {t.call(contact ?? t.contact)}
            </a>
            <a class="button minor" href={`sms:${phone}`} aria-label={`${t.message}: ${contact ?? t.contact}`}>
              {t.message}
            </a>
          </li>
        ),
      )}
    </ul>
  );
}

/** Acts for all shipments of a stop at once: arrived and picked up. */
function SharedActs({ tasks }: { readonly tasks: readonly Task[] }) {
  const { t, synchronize } = useApp();
  const referencesFor = (kind: ActKind) =>
    tasks
      .map(({ shipment }) => shipment)
      .filter((it) => allowedActs(it).includes(kind))
      .map((it) => it.reference);
  const arrivals = (["arrive_pickup", "arrive_dropoff"] as const)
    .map((kind) => [kind, referencesFor(kind)] as const)
    .filter(([, references]) => references.length > 0);
  const pickups = referencesFor("pick_up");
  const [isStorageFull, setStorageFull] = useState(false);
  const arrive = async () => {
    try {
      for (const [kind, references] of arrivals) await queueAct(kind, references);
    } catch {
      return setStorageFull(true);
    }
    synchronize();
    replaceScreen(location.hash || paths.run);
  };
  return (
    <div class="acts">
      <ErrorNote text={isStorageFull && arrivals.length > 0 && t.noStorage} />
      {arrivals.length > 0 && (
        <button type="button" onClick={() => void arrive()}>
          {t.act.arrive_pickup}
        </button>
      )}
      {pickups.length > 0 && (
        <a class="button primary" href={paths.act("pick_up", pickups)}>
          {t.act.pick_up}
          {pickups.length > 1 && ` (${pickups.length})`}
        </a>
      )}
    </div>
  );
}

/** A shipment at a stop, with its contents and the acts that are done for it alone. */
function TaskView({ task: { shipment, end }, isAlone }: { readonly task: Task; readonly isAlone: boolean }) {
  const { state, t, nowMs } = useApp();
  const { reference, items = [] } = shipment;
  const isNow = end === "pickup" || shipment.status === "in_transit";
  const allowed = isNow ? allowedActs(shipment) : [];
  const acts = (["deliver", "return", "fail"] as const).filter((kind) => allowed.includes(kind));
  const attempts = shipment.attempts.filter((attempt) => attempt.end === end).length;
  const isDropoff = end === "dropoff";
  const visit = visitOf(shipment, end);
  const facts = [
    isNow ? "" : t.status[shipment.status],
    contentsText(shipment, t),
    new Intl.NumberFormat(state.language, { style: "unit", unit: "kilogram" }).format(shipment.weight_kg),
    isAlone ? "" : timeText(visit, t, state, nowMs),
    isDropoff ? t.proof[requiredProof(shipment)] : "",
    attempts > 0 ? t.attempts(attempts) : "",
    state.acts.some((act) => act.shipment === reference) ? t.notSent : "",
  ];
  return (
    <li class="task">
      <p class="reference">
        {reference} {!isAlone && <b>{isDropoff ? visit.contact : shipment.dropoff_address}</b>}{" "}
        {!isAlone && isLate(shipment, end, nowMs) && <em class="late">{t.late}</em>}
      </p>
      <p>
        {facts.filter(Boolean).map((fact, i) => (
          <>
            {/* Right-to-left text must not move the number of the next fact. */}
            {i > 0 && " · "}
            <bdi>{fact}</bdi>
          </>
        ))}
      </p>
      {items.length > 0 && (
        <ul class="items">
          {items.map(({ name, quantity }) => (
            <li>
              {quantity} × {name}
            </li>
          ))}
        </ul>
      )}
      {isDropoff && shipment.dropoff_handover === "leave_at_door" && <p class="instructions">{t.leaveAtDoor}</p>}
      {isDropoff && attempts > 0 && shipment.if_undeliverable === "dispose" && <p class="instructions">{t.dispose}</p>}
      <div class="acts">
        {acts.map((kind) => (
          <a
            class={`button ${kind === "deliver" ? "primary" : ""} ${kind === "fail" ? "minor" : ""}`}
            href={paths.act(kind, [reference])}
            aria-label={isAlone ? undefined : `${actText(kind, end, t)}: ${reference}`}
          >
            {actText(kind, end, t)}
          </a>
        ))}
      </div>
    </li>
  );
}

const actText = (kind: ActKind, end: Task["end"], t: Texts) => (kind === "fail" ? t.failed[end] : t.act[kind]);

/** Returns the packages of a shipment, such as `2 packages, flowers`. */
export function contentsText({ package_count: count = 1, package_description: text }: Task["shipment"], t: Texts) {
  return [t.packages(count), text].filter(Boolean).join(", ");
}
