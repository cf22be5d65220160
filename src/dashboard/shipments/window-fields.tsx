import { useEffect, useMemo, useState } from "preact/hooks";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { SlotCapacityUnit, SlotUnavailableReason, type PickupSlot } from "../../../gen/shipments/v1/window_pb.js";
import type { Problem } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";
import { FieldGroup, SelectField, TextField } from "../ui/fields.tsx";
import { moneyText } from "../ui/format.ts";
import { ProblemNote } from "../ui/page.tsx";
import { type End, ENDS } from "./route.ts";
import { clockText, localDate, localTime } from "../ui/local-time.ts";
import { type BookedWindows, isFree, type Windows } from "./use-windows.ts";
import {
  dateText,
  firstWindow,
  hoursText,
  instantText,
  isOfWindows,
  isSameWindow,
  nextAvailable,
  type Offer,
  slotsByDate,
  type Window,
  windowAt,
  type WindowChoice,
  windowOf,
  windowText,
} from "./windows.ts";

/** Fields for the pickup and dropoff times, shown only where a zone has a schedule. */
export function WindowFields(props: {
  readonly windows: Windows;
  readonly booked?: BookedWindows;
  /** Price of the route without window fees, in major units. `undefined` while unknown. */
  readonly total: number | undefined;
  readonly refused?: Problem | undefined;
}) {
  const { windows, booked, total, refused } = props;
  if (windows.problem) return <ProblemNote problem={windows.problem} retry={windows.reload} />;
  return (
    <>
      {ENDS.map((end) => {
        const offer = windows.offers[end];
        return (
          offer && (
            <EndWindow
              key={end}
              end={end}
              offer={offer}
              booked={booked?.[end]}
              choice={windows.choices[end]}
              choose={(choice) => windows.choose(end, choice)}
              listMore={windows.listMore[end]}
              total={total}
            />
          )
        );
      })}
      {refused && isOfWindows(refused) && <WindowRefusal problem={refused} windows={windows} />}
    </>
  );
}

interface EndProps {
  readonly end: End;
  readonly offer: Offer;
  readonly choice: WindowChoice;
  readonly choose: (choice: WindowChoice) => void;
  readonly listMore: (() => void) | undefined;
  readonly total: number | undefined;
}

function EndWindow(props: EndProps & { readonly booked: Window | undefined }) {
  const { end, offer, booked, choice, choose, listMore } = props;
  const { timeZone } = offer;
  const first = firstWindow(offer.data, isFree(offer));
  const kinds = [
    ...(booked ? [["booked", `As booked: ${windowText(booked, timeZone)}`] as const] : []),
    ...(end === "dropoff"
      ? [["open", "Any time"] as const]
      : offer.asSoonAsPossible
        ? [["open", "As soon as possible"] as const]
        : []),
    ["time", "At a time"] as const,
  ];
  return (
    <FieldGroup
      name={`${end}_window`}
      label={end === "pickup" ? "Pickup time" : "Dropoff time"}
      kind="window"
      value={choice}
      hint={choice.kind === "time" && first && `Times are ${clockText(timeZone)}.`}
    >
      <div class="segments">
        {kinds.map(([kind, label]) => (
          <label key={kind}>
            <input
              type="radio"
              name={`${end}_window_kind`}
              checked={choice.kind === kind}
              onChange={() => choose(kind === "time" ? { kind, window: first } : { kind })}
            />
            {label}
          </label>
        ))}
      </div>
      {choice.kind === "time" &&
        (first ? (
          <ChooseTime {...props} window={choice.window} first={first} />
        ) : (
          <p class="minor">No times available on the days checked.</p>
        ))}
      {choice.kind === "time" && offer.hasMore && (
        <div>
          <Button busy={listMore === undefined} onClick={() => listMore?.()}>
            Show later days
          </Button>
        </div>
      )}
    </FieldGroup>
  );
}

function ChooseTime(props: EndProps & { readonly window: Window | undefined; readonly first: Window }) {
  const { end, offer, window, first, choose } = props;
  const byDate = useMemo(() => slotsByDate(offer), [offer]);
  const [date, setDate] = useState(() => localDate((window ?? first).start, offer.timeZone));
  useEffect(() => {
    // The window may have been chosen elsewhere, for example from the alternatives in a refusal.
    if (window) setDate(localDate(window.start, offer.timeZone));
  }, [Number(window?.start)]);
  const slots = byDate.get(date) ?? [];
  const chooseWindow = (next: Window | undefined) => choose({ kind: "time", window: next });
  const chooseDate = (next: string) => {
    setDate(next);
    chooseWindow(firstWindow(byDate.get(next) ?? [], isFree(offer)));
  };
  return (
    <>
      <SelectField
        name={`${end}_window_day`}
        label="Day"
        value={date}
        onInput={chooseDate}
        choices={[...byDate].map(([day, those]) => [
          day,
          those.some(({ available }) => available) ? dateText(day) : `${dateText(day)}, none left`,
        ])}
      />
      {isFree(offer) ? (
        <FreeWindow key={date} {...props} date={date} slots={slots} window={window} change={chooseWindow} />
      ) : (
        <ul class="slots">
          {slots.map((slot) => (
            <Slot key={slot.localStart} {...props} slot={slot} pick={chooseWindow} />
          ))}
        </ul>
      )}
    </>
  );
}

function Slot(
  props: EndProps & {
    readonly window: Window | undefined;
    readonly slot: PickupSlot;
    readonly pick: (window: Window) => void;
  },
) {
  const { end, offer, slot, window, total, pick } = props;
  const own = windowOf(slot);
  const left = slot.remaining === undefined ? "" : `${slot.remaining}${unitText(offer)} left`;
  const note = slot.available
    ? [feeText(slot, offer, total), left].filter(Boolean).join(", ")
    : unavailableText(slot, offer.timeZone);
  return (
    <li>
      <label>
        <input
          type="radio"
          name={`${end}_window_slot`}
          disabled={!slot.available}
          checked={window !== undefined && isSameWindow(window, own)}
          onChange={() => pick(own)}
        />
        <span>
          {hoursText(own, offer.timeZone)}
          {note && <span class="minor"> {note}</span>}
        </span>
      </label>
    </li>
  );
}

function unitText({ capacityUnit }: Offer): string {
  return capacityUnit === SlotCapacityUnit.KILOGRAMS ? " kg" : "";
}

function feeText({ price }: PickupSlot, { currency }: Offer, total: number | undefined): string {
  if (total === undefined || price <= total) return "";
  // Rounding removes float errors, because both prices are exact to the minor unit.
  return `+${moneyText(Number((price - total).toFixed(4)), currency)}`;
}

/** Returns the reason why a slot cannot be booked. */
function unavailableText({ unavailableReason, cutOffAt }: PickupSlot, timeZone: string): string {
  switch (unavailableReason) {
    case SlotUnavailableReason.CUT_OFF_PASSED:
      return cutOffAt
        ? `had to be booked by ${instantText(timestampDate(cutOffAt), timeZone)}`
        : "can no longer be booked";
    case SlotUnavailableReason.TOO_SOON:
      return "too soon";
    case SlotUnavailableReason.FULL:
      return "full";
    default:
      return "cannot be booked";
  }
}

function FreeWindow(
  props: EndProps & {
    readonly date: string;
    readonly slots: readonly PickupSlot[];
    readonly window: Window | undefined;
    readonly change: (window: Window | undefined) => void;
  },
) {
  const { end, offer, date, slots, window, total, change } = props;
  const { timeZone } = offer;
  const timesOf = (of: Window | undefined) => ({
    start: of ? localTime(of.start, timeZone) : "",
    end: of ? localTime(of.end, timeZone) : "",
  });
  const [typed, setTyped] = useState(() => timesOf(window));
  useEffect(() => {
    if (window) setTyped(timesOf(window));
  }, [Number(window?.start), Number(window?.end)]);
  const type = (next: typeof typed) => {
    setTyped(next);
    change(windowAt(date, next, timeZone));
  };
  return (
    <>
      <ul class="free-hours" aria-label={`Hours on ${dateText(date)}`}>
        {slots.map((slot) => {
          const note = slot.available ? feeText(slot, offer, total) : unavailableText(slot, timeZone);
          return (
            <li key={slot.localStart}>
              Open {hoursText(windowOf(slot), timeZone)} {note && <span class="minor">{note}</span>}
            </li>
          );
        })}
      </ul>
      <div class="field-row">
        <TextField
          name={`${end}_window_start`}
          label="From"
          type="time"
          value={typed.start}
          onInput={(start) => type({ ...typed, start })}
        />
        <TextField
          name={`${end}_window_end`}
          label="Until"
          type="time"
          value={typed.end}
          onInput={(until) => type({ ...typed, end: until })}
          hint={typed.start && typed.end && typed.end <= typed.start ? "On the next day." : undefined}
        />
      </div>
    </>
  );
}

/** Shows why the times were refused, and the next available ones. */
function WindowRefusal({ problem, windows }: { readonly problem: Problem; readonly windows: Windows }) {
  const { fields, message } = windows.reword(problem);
  const texts = Object.values(fields).flat();
  return (
    <div class="problem attention" role="alert">
      {(texts.length > 0 ? texts : [message]).map((text) => (
        <p key={text}>{text}</p>
      ))}
      <NextWindows problem={problem} windows={windows} />
    </div>
  );
}

/** Buttons that replace refused times with the refusal's alternatives. */
export function NextWindows({ problem, windows }: { readonly problem: Problem; readonly windows: Windows }) {
  return (
    <>
      {ENDS.map((end) => {
        const next = nextAvailable(problem, end);
        const offer = windows.offers[end];
        if (next === undefined || offer === undefined) return null;
        return (
          <Button key={end} onClick={() => windows.choose(end, { kind: "time", window: next })}>
            Use {windowText(next, offer.timeZone)}
          </Button>
        );
      })}
    </>
  );
}
