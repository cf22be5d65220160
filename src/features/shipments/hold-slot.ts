import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type HoldSlotResponse,
  HoldSlotResponseSchema,
  type QuoteService,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { AcceptedWindowSchema } from "../../../gen/shipments/v1/window_pb.js";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import { MAX_HOLDS } from "../../domain/limits.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";
import type { BookedWindow } from "../../domain/schedule/decide-windows.ts";
import type { Call } from "../../pipeline/call.ts";
import { aroundTransaction, type ServiceFunctions } from "../../pipeline/rpc.ts";
import { findQuote, type FindQuoteDeps, type NamedQuote } from "../quotes/find-quote.ts";
import { countHolds } from "../slots/slots.ts";
import { byTestClock, timeOf } from "../workspaces/test-clock.ts";
import { loadPriceFacts } from "./booking-facts.ts";
import { priceBooking } from "./check-booking.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { hasSlot, reserveSlots } from "./slot-places.ts";

type HoldDeps = Pick<ShipmentDeps, "em" | "tariffs" | "slots" | "testTimes" | "now"> & FindQuoteDeps;

export const holdSlot: ServiceFunctions<typeof QuoteService, Call, HoldDeps>["holdSlot"] = aroundTransaction(
  async ({ quoteId }, call, deps, transact) => {
    const quote = await findQuote(quoteId, call.caller.workspaceId, deps);
    return transact(async (inTransaction) => holdSlots(quote, call, inTransaction));
  },
);

/** Holds the places of a quote until it expires. Checks the quote like a booking. */
const holdSlots = byTestClock(
  async (quote: NamedQuote | undefined, call, { em, tariffs, slots, now }: HoldDeps): Promise<HoldSlotResponse> => {
    if (quote === undefined) throw refuse("QUOTE_UNKNOWN");
    const { id: quoteId, terms } = quote;
    const { workspaceId } = call.caller;
    const at = timeOf(call, now);
    const facts = await loadPriceFacts(em, quote);
    const booking = { request: create(CreateShipmentRequestSchema, { quoteId }), quote };
    const { route, windows } = priceBooking(booking, facts, await tariffs.inForce(em), at);
    if (!hasSlot(windows)) return create(HoldSlotResponseSchema, { quoteId });
    const count = await lockAndLoad(em, "slot_holds", workspaceId, () => countHolds(em, workspaceId, quoteId));
    if (count >= MAX_HOLDS) throw refuse("HOLD_LIMIT");
    const holder = { reference: null, quoteId };
    const heldSeconds = Math.ceil((terms.expiresAtMs - at.getTime()) / 1_000);
    const fills = call.received.simulation?.fillsSlots;
    const claim = { caller: call.caller, holder, weightKg: route.weightKg, windows, at, heldSeconds, fills };
    // A refusal must not undo a simulated fill.
    const [reserved] = await reserveSlots(slots.within(fills ? em.fork() : em), [claim], now());
    if (reserved instanceof Refusal) throw reserved;
    return create(HoldSlotResponseSchema, {
      quoteId,
      heldUntil: timestampFromMs(terms.expiresAtMs),
      pickupWindow: heldWindow(windows.pickup),
      dropoffWindow: heldWindow(windows.dropoff),
    });
  },
);

function heldWindow(window: BookedWindow | undefined) {
  if (window?.slot === undefined) return undefined;
  const { startMs, endMs, timeZone } = window;
  return create(AcceptedWindowSchema, { start: timestampFromMs(startMs), end: timestampFromMs(endMs), timeZone });
}
