import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import { apiKeyText } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";
import { EVENT_TYPES } from "../webhooks/event-types.ts";
import { ATTEMPT_REASONS } from "./delivery-choices.ts";
import { CANCEL_REASONS } from "./shipment-badge.tsx";
import "../webhooks/timeline.css";

/** Name and kind of each type of event. */
const TYPES: ReadonlyMap<string, Pick<Step, "name" | "kind">> = new Map(
  EVENT_TYPES.map(([type, name, kind]) => [type, { name, kind }]),
);

/** Tone and SVG path of each kind of event. */
const KINDS = {
  parcel: ["", "M8 2 13.5 5v6L8 14 2.5 11V5ZM2.5 5 8 8l5.5-3M8 8v6"],
  money: ["", "M2 4h12v8H2ZM2 7h12"],
  courier: ["", "M1.5 4.5h8v6h-8ZM9.5 6.5H12l2.5 2v2h-5M4 12.5h1M11 12.5h1"],
  time: ["", "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3l2 1.5"],
  door: ["", "M8 14s4.5-4 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 10 8 14 8 14ZM8 7h.01"],
  done: ["good", "M3 8.5 6.5 12 13 4.5"],
  failed: ["bad", "M8 3v6M8 12.5h.01"],
  ended: ["", "M4 4l8 8M12 4l-8 8"],
  changed: ["", "m3 13 .5-2.5 7-7 2 2-7 7Z"],
} as const;

interface Step extends Pick<Event, "timestamp"> {
  readonly id: string;
  readonly kind: keyof typeof KINDS;
  readonly name: string;
  readonly note: string | undefined;
  readonly actor: string;
}

/** Shows events, newest first. Consecutive changes of one kind are one step. Names the actor where it changes. */
export function Timeline({ events }: { readonly events: readonly Event[] }) {
  const steps = stepsOf(events);
  return (
    <ol class="timeline">
      {steps.map(({ id, kind, name, note, timestamp, actor }, index) => (
        <li key={id}>
          <Icon kind={kind} />
          <span>{name}</span> <Time at={timestamp} exact />
          {note && <p dir="auto">{note}</p>}
          {actor !== steps[index - 1]?.actor && <p class="minor">{actor}</p>}
        </li>
      ))}
    </ol>
  );
}

function actorOf({ actor, apiKey, courier }: Event): string {
  if (courier !== undefined) return `Courier ${courier.name}`;
  return actor ?? (apiKey ? apiKeyText(apiKey.name ?? apiKey.last4) : "Service");
}

function Icon({ kind }: { readonly kind: keyof typeof KINDS }) {
  const [tone, drawn] = KINDS[kind];
  return (
    <svg class={`nav-icon ${tone}`} viewBox="-4 -4 24 24" aria-hidden="true">
      <path d={drawn} />
    </svg>
  );
}

function stepsOf(events: readonly Event[]): readonly Step[] {
  return events
    .filter((event, index) => !isRepeated(event, events[index + 1], events[index - 1]))
    .map((event) => ({ ...event, ...textsOf(event, events[events.indexOf(event) - 1]), actor: actorOf(event) }))
    .toReversed();
}

/** Whether the next event replaces this one, or the previous one implies it. */
function isRepeated({ type }: Event, next: Event | undefined, previous: Event | undefined): boolean {
  const isImplied = type === "shipment.awaiting_pickup" && previous?.type === "shipment.paid";
  return isImplied || (next?.type === type && (type === "shipment.eta_changed" || type === "shipment.updated"));
}

function textsOf({ type, data }: Event, previous: Event | undefined): Pick<Step, "kind" | "name" | "note"> {
  const step = { name: type, kind: "changed", note: undefined, ...TYPES.get(type) } as const;
  switch (type) {
    case "shipment.courier_assigned":
      return { ...step, name: data?.courier ? "Courier assigned" : "Courier removed", note: data?.courier?.name };
    case "shipment.attempt_failed": {
      const { reason, note } = data?.attempts.at(-1) ?? {};
      return { ...step, note: [reason && ATTEMPT_REASONS[reason], note].filter(Boolean).join(". ") };
    }
    case "shipment.proof_recorded": {
      const isWaived = data?.proof?.waived !== undefined && previous?.data?.proof?.waived === undefined;
      if (isWaived) return { kind: "failed", name: "Verification waived", note: data?.proof?.waived };
      return { ...step, note: data?.proof?.receivedBy };
    }
    case "shipment.cancelled": {
      const { cancelReason, cancelNote } = data ?? {};
      return { ...step, note: [cancelReason && CANCEL_REASONS[cancelReason], cancelNote].filter(Boolean).join(". ") };
    }
    default:
      return step;
  }
}
