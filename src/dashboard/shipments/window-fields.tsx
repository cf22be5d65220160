import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useMemo, useState } from "preact/hooks";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { SlotUnavailableReason, type PickupSlot } from "../../../gen/shipments/v1/window_pb.js";
import type { Problem } from "../api/problem.ts";
import { useClient } from "../api/clients.ts";
import { useDebounced, useQuery, useRepeat } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { FieldGroup, SelectField, TextField } from "../ui/fields.tsx";
import { moneyText } from "../ui/format.ts";
import { ProblemNote } from "../ui/query-view.tsx";
import { type End, isComplete, ROUTE_FIELDS, routeOf, type RouteText } from "./route.ts";
import { addDays, clockText, localDate, localTime } from "../ui/local-time.ts";
import {
  type bookedWindows,
  dateText,
  firstWindow,
  hoursText,
  instantText,
  isOfWindows,
  isSameWindow,
  nextAvailable,
  type Offer,
  problemOfWindows,
  slotsByDate,
  type Window,
  windowAt,
  type WindowChoice,
  windowMessage,
  windowOf,
  windowText,
} from "./windows.ts";

/** For how many days one call lists slots, the most that it does; further days are listed when they are asked for. */
const DAYS = 14;
/** How many times days are listed, which is more than a year. */
const MAX_PAGES = 27;
/** How often to look which slots can still be booked, in milliseconds. */
const LOOK_MS = 60_000;
/** How long nothing is typed before slots of a route are listed, in milliseconds. */
const SETTLED_MS = 200;

/** Both ends of a route, the pickup first. */
export const ENDS: readonly End[] = ["pickup", "dropoff"];

/** The times of a route: what can be chosen at each end, and what is. */
export interface Windows {
  readonly offers: Readonly<Record<End, Offer | undefined>>;
  readonly choices: Readonly<Record<End, WindowChoice>>;
  readonly choose: (end: End, choice: WindowChoice) => void;
  /** What is chosen, of ends whose zone has a schedule. */
  readonly chosen: Readonly<Record<End, Window | undefined>>;
  /** Whether a time is wanted that is not there yet: then nothing is to be asked for. */
  readonly isUnset: boolean;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
  /** Lists further days of an end; undefined while that is done. */
  readonly listMore: Readonly<Record<End, (() => void) | undefined>>;
  /** A refusal as this page says it. */
  readonly inWords: (problem: Problem) => Problem;
}

type BookedWindows = ReturnType<typeof bookedWindows>;

/**
 * Lists what can be chosen for a route, and keeps what is.
 *
 * @param options.isShown false where it only has to be known whether something can be chosen
 */
export function useWindows(
  route: RouteText,
  {
    isWanted = true,
    isShown = true,
    booked,
  }: {
    readonly isWanted?: boolean;
    readonly isShown?: boolean;
    readonly booked?: BookedWindows;
  } = {},
): Windows {
  const settled = useDebounced(route, SETTLED_MS);
  const pickup = useOffer(settled, { isWanted, isShown });
  const dropoff = useOffer(reversed(settled), { isWanted, isShown });
  const [kept, setKept] = useState<Readonly<Record<End, WindowChoice | undefined>>>({
    pickup: booked?.pickup && BOOKED,
    dropoff: booked?.dropoff && BOOKED,
  });
  const offers = { pickup: pickup.data, dropoff: dropoff.data };
  const choices = {
    pickup: kept.pickup ?? choiceAtFirst(offers.pickup),
    dropoff: kept.dropoff ?? OPEN,
  };
  const chosen = {
    pickup: chosenOf(choices.pickup, offers.pickup, booked?.pickup),
    dropoff: chosenOf(choices.dropoff, offers.dropoff, booked?.dropoff),
  };
  const timeZones = { pickup: offers.pickup?.timeZone, dropoff: offers.dropoff?.timeZone };
  return {
    offers,
    choices,
    chosen,
    choose: (end, choice) => setKept((before) => ({ ...before, [end]: choice })),
    isUnset: ENDS.some(
      (end) => offers[end] && choices[end].kind === "time" && chosen[end] === undefined,
    ),
    problem: pickup.problem ?? dropoff.problem,
    reload: () => {
      pickup.reload();
      dropoff.reload();
    },
    listMore: { pickup: pickup.listMore, dropoff: dropoff.listMore },
    inWords: (problem) => (isOfWindows(problem) ? problemOfWindows(problem, timeZones) : problem),
  };
}

const OPEN: WindowChoice = { kind: "open" };
const BOOKED: WindowChoice = { kind: "booked" };

/** The pickup is as soon as possible where that is offered, else in the first window there is. */
function choiceAtFirst(offer: Offer | undefined): WindowChoice {
  if (offer === undefined || offer.asSoonAsPossible) return OPEN;
  return { kind: "time", window: firstWindow(offer.data, isFree(offer)) };
}

function isFree({ slotMinutes }: Offer): boolean {
  return slotMinutes === undefined;
}

function chosenOf(
  choice: WindowChoice,
  offer: Offer | undefined,
  booked: Window | undefined,
): Window | undefined {
  if (choice.kind === "booked") return booked;
  return offer && choice.kind === "time" ? choice.window : undefined;
}

/** What the zone at the pickup of a route offers; nothing for a route that cannot be served. */
function useOffer(
  route: RouteText,
  { isWanted, isShown }: { readonly isWanted: boolean; readonly isShown: boolean },
) {
  const shipments = useClient(ShipmentService);
  const [pages, setPages] = useState(1);
  const query = useQuery(
    async (signal): Promise<Offer | undefined> => {
      if (!isWanted || !isComplete(route)) return undefined;
      try {
        return await listOffer(shipments, { route, pages }, signal);
      } catch (error) {
        // The quote says why it cannot be served.
        const { code } = ConnectError.from(error);
        if (code === Code.FailedPrecondition || code === Code.InvalidArgument) return undefined;
        throw error;
      }
    },
    [shipments, isWanted, pages, ...ROUTE_FIELDS.map((name) => route[name])],
  );
  // Where no schedule applies there is nothing that time could change.
  useRepeat(isShown && query.data ? query.reload : NOTHING, LOOK_MS);
  const listMore = query.isLoading ? undefined : () => setPages((before) => before + 1);
  return { ...query, listMore };
}

const NOTHING = () => {};

/** Lists what is offered on the days of some pages, as far as days can be booked; undefined without a schedule. */
async function listOffer(
  shipments: Client<typeof ShipmentService>,
  { route, pages }: { readonly route: RouteText; readonly pages: number },
  signal: AbortSignal,
): Promise<Offer | undefined> {
  let offer: Offer | undefined;
  let fromDate: string | undefined;
  for (let page = 0; page < pages && (offer?.goesOn ?? true); page++) {
    const request = { ...routeOf(route), days: DAYS, fromDate };
    const { timeZone, ...listed } = await shipments.listPickupSlots(request, { signal });
    if (timeZone === undefined) return undefined;
    const last = listed.data.at(-1);
    const open = listed.data.filter((slot) => !isTooFarAhead(slot));
    const goesOn = (last === undefined || !isTooFarAhead(last)) && page + 1 < MAX_PAGES;
    offer = { ...listed, data: [...(offer?.data ?? []), ...open], timeZone, goesOn };
    fromDate = last
      ? addDays(last.localStart.slice(0, 10), 1)
      : addDays(fromDate ?? localDate(new Date(), timeZone), DAYS);
  }
  return offer;
}

function isTooFarAhead({ unavailableReason }: PickupSlot): boolean {
  return unavailableReason === SlotUnavailableReason.TOO_FAR_AHEAD;
}

/** The schedule at the dropoff is that of a pickup on the way back. */
function reversed(route: RouteText): RouteText {
  return {
    pickup_lat: route.dropoff_lat,
    pickup_lng: route.dropoff_lng,
    dropoff_lat: route.pickup_lat,
    dropoff_lng: route.pickup_lng,
    weight_kg: route.weight_kg,
  };
}

export function windowsOf({ chosen }: Pick<Windows, "chosen">) {
  return {
    pickupWindow: windowMessage(chosen.pickup),
    dropoffWindow: windowMessage(chosen.dropoff),
  };
}

/** The ends whose times change: what stays as it is booked is not decided again. */
export function windowChanges({ chosen }: Windows, booked: BookedWindows) {
  const changed = ENDS.filter((end) => {
    const [before, after] = [booked[end], chosen[end]];
    return before && after ? !isSameWindow(before, after) : before !== after;
  });
  const of = (end: End) => (changed.includes(end) ? windowMessage(chosen[end]) : undefined);
  return {
    pickupWindow: of("pickup"),
    dropoffWindow: of("dropoff"),
    clear: changed.filter((end) => chosen[end] === undefined).map((end) => `${end}_window`),
  };
}

/** Asks when the ends of a route are wanted, where their zones have schedules. */
export function WindowFields(props: {
  readonly windows: Windows;
  readonly booked?: BookedWindows;
  /** What the route costs without windows, in major units; undefined as long as it is not known. */
  readonly total: number | undefined;
  /** Why what was asked for last was refused. */
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
          <p class="minor">No time can be booked on the days that were looked at.</p>
        ))}
      {choice.kind === "time" && offer.goesOn && (
        <div>
          <Button busy={listMore === undefined} onClick={() => listMore?.()}>
            Look at later days
          </Button>
        </div>
      )}
    </FieldGroup>
  );
}

function ChooseTime(
  props: EndProps & { readonly window: Window | undefined; readonly first: Window },
) {
  const { end, offer, window, first, choose } = props;
  const byDate = useMemo(() => slotsByDate(offer), [offer]);
  const [date, setDate] = useState(() => localDate((window ?? first).start, offer.timeZone));
  useEffect(() => {
    // It may have been chosen elsewhere, such as the next window that a refusal names.
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
        <FreeWindow
          key={date}
          {...props}
          date={date}
          slots={slots}
          window={window}
          change={chooseWindow}
        />
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
  const note = slot.available ? feeText(slot, offer, total) : whyNot(slot, offer.timeZone);
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

function feeText({ price }: PickupSlot, { currency }: Offer, total: number | undefined): string {
  if (total === undefined || price <= total) return "";
  // Both are exact to the minor unit; their difference as a double is, once rounded to the same.
  return `+${moneyText(Number((price - total).toFixed(4)), currency)}`;
}

/** Why a slot cannot be booked. */
function whyNot({ unavailableReason, cutOffAt }: PickupSlot, timeZone: string): string {
  switch (unavailableReason) {
    case SlotUnavailableReason.CUT_OFF_PASSED:
      return cutOffAt
        ? `had to be booked by ${instantText(timestampDate(cutOffAt), timeZone)}`
        : "can no longer be booked";
    case SlotUnavailableReason.TOO_SOON:
      return "too soon";
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
          const note = slot.available ? feeText(slot, offer, total) : whyNot(slot, timeZone);
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
          hint={
            typed.start && typed.end && typed.end <= typed.start ? "On the next day." : undefined
          }
        />
      </div>
    </>
  );
}

/** Why the times cannot be had, and the next that can. */
function WindowRefusal(props: { readonly problem: Problem; readonly windows: Windows }) {
  const { problem, windows } = props;
  const { fields, message } = windows.inWords(problem);
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

/** Takes what a refusal says would do in the place of what was refused. */
export function NextWindows(props: { readonly problem: Problem; readonly windows: Windows }) {
  const { problem, windows } = props;
  return (
    <>
      {ENDS.map((end) => {
        const next = nextAvailable(problem, end);
        const offer = windows.offers[end];
        if (next === undefined || offer === undefined) return null;
        return (
          <Button key={end} onClick={() => windows.choose(end, { kind: "time", window: next })}>
            Take {windowText(next, offer.timeZone)}
          </Button>
        );
      })}
    </>
  );
}
