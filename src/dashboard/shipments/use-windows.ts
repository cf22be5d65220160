import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { useState } from "preact/hooks";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { SlotUnavailableReason, type PickupSlot } from "../../../gen/shipments/v1/window_pb.js";
import type { Problem } from "../api/problem.ts";
import { useClient } from "../api/clients.ts";
import { useDebounced, useQuery, useRepeat } from "../api/use-query.ts";
import { atEnds, type End, ENDS, isComplete, ROUTE_FIELDS, routeOf, type RouteText } from "./route.ts";
import { addDays, localDate } from "../ui/local-time.ts";
import {
  type bookedWindows,
  firstWindow,
  isOfWindows,
  isSameWindow,
  type Offer,
  problemOfWindows,
  type Window,
  type WindowChoice,
  windowMessage,
} from "./windows.ts";

/** Days of slots per call, which is the API's maximum. Later days are loaded on request. */
const DAYS = 14;
/** Maximum number of calls per route. They cover more than a year. */
const MAX_PAGES = 27;
/** Interval for reloading which slots are still available, in milliseconds. */
const POLL_MS = 60_000;
/** Time without typing before a route's slots are loaded, in milliseconds. */
const SETTLED_MS = 200;

/** Offered and chosen times of a route's pickup and dropoff. */
export type Windows = ReturnType<typeof useWindows>;

export type BookedWindows = ReturnType<typeof bookedWindows>;

/**
 * Loads a route's slots and tracks the chosen ones.
 *
 * @param options.isShown false if only the existence of slots matters
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
) {
  const settled = useDebounced(route, SETTLED_MS);
  const pickup = useOffer(settled, { isWanted, isShown });
  const dropoff = useOffer(reversed(settled), { isWanted, isShown });
  const [made, setMade] = useState(() => atEnds((end): WindowChoice | undefined => booked?.[end] && BOOKED));
  const offers = { pickup: pickup.data, dropoff: dropoff.data };
  const choices = { pickup: made.pickup ?? choiceAtFirst(offers.pickup), dropoff: made.dropoff ?? OPEN };
  const chosen = atEnds((end) => chosenOf(choices[end], offers[end], booked?.[end]));
  const timeZones = atEnds((end) => offers[end]?.timeZone);
  return {
    offers,
    choices,
    chosen,
    choose: (end: End, choice: WindowChoice) => setMade((before) => ({ ...before, [end]: choice })),
    /** Whether a required time is missing. No quote is requested until it is chosen. */
    isUnset: ENDS.some((end) => offers[end] && choices[end].kind === "time" && chosen[end] === undefined),
    problem: pickup.problem ?? dropoff.problem,
    reload: () => {
      pickup.reload();
      dropoff.reload();
    },
    /** Loads further days for a pickup or dropoff. `undefined` while loading. */
    listMore: { pickup: pickup.listMore, dropoff: dropoff.listMore },
    /** Rewords a refusal for this page. */
    reword: (problem: Problem) => (isOfWindows(problem) ? problemOfWindows(problem, timeZones) : problem),
  };
}

const OPEN: WindowChoice = { kind: "open" };
const BOOKED: WindowChoice = { kind: "booked" };

/** Returns the default choice: as soon as possible if offered, otherwise the first available window. */
function choiceAtFirst(offer: Offer | undefined): WindowChoice {
  if (offer === undefined || offer.asSoonAsPossible) return OPEN;
  return { kind: "time", window: firstWindow(offer.data, isFree(offer)) };
}

export function isFree({ slotMinutes }: Offer): boolean {
  return slotMinutes === undefined;
}

function chosenOf(choice: WindowChoice, offer: Offer | undefined, booked: Window | undefined): Window | undefined {
  if (choice.kind === "booked") return booked;
  return offer && choice.kind === "time" ? choice.window : undefined;
}

/** Loads the slots for a route's pickup. Empty if the route is not served. */
function useOffer(route: RouteText, { isWanted, isShown }: { readonly isWanted: boolean; readonly isShown: boolean }) {
  const shipments = useClient(ShipmentService);
  const [pages, setPages] = useState(1);
  const query = useQuery(
    async (signal): Promise<Offer | undefined> => {
      if (!isWanted || !isComplete(route)) return undefined;
      try {
        return await listOffer(shipments, { route, pages }, signal);
      } catch (error) {
        // The quote reports why the route is not served.
        const { code } = ConnectError.from(error);
        if (code === Code.FailedPrecondition || code === Code.InvalidArgument) return undefined;
        throw error;
      }
    },
    [shipments, isWanted, pages, ...ROUTE_FIELDS.map((name) => route[name])],
  );
  // Without a schedule, there are no slots to refresh.
  useRepeat(isShown && query.data ? query.reload : undefined, POLL_MS);
  const listMore = query.isLoading ? undefined : () => setPages((before) => before + 1);
  return { ...query, listMore };
}

/** Loads the slots of several pages of bookable days. `undefined` if the zone has no schedule. */
async function listOffer(
  shipments: Client<typeof ShipmentService>,
  { route, pages }: { readonly route: RouteText; readonly pages: number },
  signal: AbortSignal,
): Promise<Offer | undefined> {
  let offer: Offer | undefined;
  let fromDate: string | undefined;
  for (let page = 0; page < pages && (offer?.hasMore ?? true); page++) {
    const request = { ...routeOf(route), days: DAYS, fromDate };
    const { timeZone, ...listed } = await shipments.listPickupSlots(request, { signal });
    if (timeZone === undefined) return undefined;
    const last = listed.data.at(-1);
    const open = listed.data.filter((slot) => !isTooFarAhead(slot));
    const hasMore = (last === undefined || !isTooFarAhead(last)) && page + 1 < MAX_PAGES;
    offer = { ...listed, data: [...(offer?.data ?? []), ...open], timeZone, hasMore };
    fromDate = last
      ? addDays(last.localStart.slice(0, 10), 1)
      : addDays(fromDate ?? localDate(new Date(), timeZone), DAYS);
  }
  return offer;
}

function isTooFarAhead({ unavailableReason }: PickupSlot): boolean {
  return unavailableReason === SlotUnavailableReason.TOO_FAR_AHEAD;
}

/** Returns the reversed route. The dropoff's schedule equals the pickup's schedule on that route. */
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
  return { pickupWindow: windowMessage(chosen.pickup), dropoffWindow: windowMessage(chosen.dropoff) };
}

/** Returns the changed times. Unchanged times are omitted, because the service would validate them again. */
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
