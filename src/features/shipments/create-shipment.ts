import { create } from "@bufbuild/protobuf";
import {
  type CreateShipmentRequest,
  CreateShipmentRequestSchema,
  type CreateShipmentResponse,
  CreateShipmentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Outcome } from "../../db/group-commit.ts";
import { byOwner } from "../../db/by-owner.ts";
import type { Transaction } from "../../db/transaction.ts";
import { Refusal } from "../../domain/refusal.ts";
import { createReference } from "../../domain/shipment/shipment-reference.ts";
import { requiredVerification } from "../../domain/shipment/delivery-details.ts";
import { storedVerification } from "../../domain/shipment/delivery-proof.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import type { CustomerRow } from "../customers/customer.entity.ts";
import { type BookedCustomer, linkCustomers } from "../customers/link-customers.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import { findQuote, type FindQuoteDeps } from "../quotes/find-quote.ts";
import type { Call } from "../../pipeline/call.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { assertMaySimulate, insertSimulations, limitSimulations } from "./booked-simulations.ts";
import { compileBookedFields } from "./booked-fields.ts";
import { type Booking, type BookingFacts, loadBookingFacts } from "./booking-facts.ts";
import { type AcceptedBooking, checkBooking, priceColumns } from "./check-booking.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage, verificationOf } from "./shipment-message.ts";
import { hasSlot, reserveSlots, type Settlement, settleSlots, type SlotClaim } from "./slot-places.ts";
import { storedWindows } from "./shipment-windows.ts";
import { type ChangedShipment, insertEventsOf, insertShipments, shipmentEvents } from "./write-shipments.ts";

const bookedFields = compileBookedFields(CreateShipmentRequestSchema);

const MAX_GROUP = 64;

type BookingDeps = Pick<ShipmentDeps, "createGroup" | "tariffs" | "slots" | "now"> & FindQuoteDeps;

/**
 * Creates the function that books shipments. Concurrent bookings share a transaction, get their responses after the
 * commit, and fail independently. The price comes from the named quote, or from the tariff in force when the
 * transaction reads it.
 *
 * The checks run in this order:
 * 1. FIELD_INVALID for a simulation outside test mode
 * 2. all violations of ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED, the windows, PAYMENT_PROVIDER_NOT_CONNECTED and
 *    PAYMENT_PROVIDER_NOT_READY
 * 3. the first of QUOTE_UNKNOWN, QUOTE_USED, QUOTE_EXPIRED, QUOTE_VOID and QUOTE_MISMATCH
 * 4. PRICE_CHANGED, EXTERNAL_REFERENCE_TAKEN, FIELD_INVALID (too much metadata) and SIMULATION_LIMIT
 * 5. SLOT_FULL
 *
 * @param announce called with the workspace after a commit
 */
export function createBookShipment(
  deps: BookingDeps,
  announce: (workspace: number) => void,
): (request: CreateShipmentRequest, call: Call) => Promise<CreateShipmentResponse> {
  const rejectIfInFlight = createRejectIfInFlight();
  const method = ShipmentService.method.createShipment;
  const settlements = new WeakMap<Booking, Settlement>();
  const commitInGroup = deps.createGroup({
    name: "bookings",
    maxMembers: MAX_GROUP,
    workspaceOf,
    serializeBy: onceKey,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, bookings: readonly Booking[]) =>
      withIdempotencyEach(tx, bookings, {
        load: (all) => loadBookingFacts(tx, all),
        run: (fresh, facts) => bookEach(tx, fresh, facts, { ...deps, settlements }),
      }),
  });
  return async (request, call) => {
    assertMaySimulate(request, call);
    const { quoteId } = request;
    const { workspaceId } = call.caller;
    const quote = quoteId === undefined ? undefined : await findQuote(quoteId, workspaceId, deps);
    const booking = { method, request, call, quote, reference: createReference() };
    const response = await rejectIfInFlight(call, () => commitInGroup(booking)).catch(async (error: unknown) => {
      const settlement = settlements.get(booking);
      // Another booking with the same quote may have taken these places.
      const isRefused = settlement !== undefined && error instanceof Refusal && quoteId === undefined;
      if (isRefused) await settleSlots(deps.slots, { confirmed: [], released: settlement.confirmed });
      throw error;
    });
    void settleSlots(deps.slots, settlements.get(booking));
    if (!call.replayed) announce(workspaceId);
    return response;
  };
}

const workspaceOf = ({ call }: Booking) => call.caller.workspaceId;

/**
 * Returns the serialization key: the second of two bookings with the same quote or external reference must see the
 * first booking after its commit. If the bookings are in different processes, or have both a quote and an external
 * reference, the second booking violates a unique key instead.
 */
function onceKey({ request: { quoteId, externalReference }, call }: Booking): string | undefined {
  if (quoteId !== undefined) return quoteId;
  if (externalReference === undefined) return undefined;
  return `${call.caller.workspaceId} ${externalReference}`;
}

async function bookEach(
  tx: Transaction,
  bookings: readonly Booking[],
  facts: readonly BookingFacts[],
  { tariffs, slots, now, settlements }: BookingDeps & { readonly settlements: WeakMap<Booking, Settlement> },
): Promise<Outcome<CreateShipmentResponse>[]> {
  const tariff = await tariffs.byVersion(facts[0]!.tariffVersion);
  const realTime = now();
  const bookedAtOf = ({ call }: Booking) => timeOf(call, () => realTime);
  const decided = limitSimulations(
    bookings.map((booking, i) => checkBooking(booking, facts[i]!, tariff, bookedAtOf(booking))),
  );
  const isLimited = decided.some((it) => "result" in it && hasSlot(it.result.windows));
  const checked = isLimited ? await withPlaces(bookings, decided, { slots, settlements, bookedAtOf, now }) : decided;
  const accepted = checked.flatMap((it) => ("result" in it ? [it.result] : []));
  const responses = new Map<AcceptedBooking, CreateShipmentResponse>();
  const written = byOwner(accepted, workspaceOf).map(([workspace, own]) => {
    const bookedAt = bookedAtOf(own[0]!);
    const { customers, changed } = linkCustomers(own.map(bookedCustomer), bookedAt);
    const booked = own.map((it, i) => bookShipment(it, customers[i]!, bookedAt));
    insertShipments(tx, workspace, booked, changed, realTime);
    insertSimulations(
      tx,
      workspace,
      booked.map(({ row }, i) => ({ ...own[i]!, shipment: row.reference, bookedAt })),
    );
    booked.forEach(({ row }, i) => {
      const data = shipmentMessage(row, own[i]!.call.caller);
      responses.set(own[i]!, create(CreateShipmentResponseSchema, { data }));
    });
    return { workspace, booked, subscribers: own[0]!.facts.subscribers };
  });
  for (const { workspace, booked, subscribers } of written) {
    insertEventsOf(tx, workspace, booked, subscribers);
  }
  return checked.map((it) => ("result" in it ? { result: responses.get(it.result)! } : it));
}

/** Reserves the places of bookings in slots with a capacity. Refuses bookings whose slots are full. */
async function withPlaces(
  bookings: readonly Booking[],
  decided: readonly Outcome<AcceptedBooking>[],
  {
    slots,
    settlements,
    bookedAtOf,
    now,
  }: Pick<BookingDeps, "slots" | "now"> & {
    readonly settlements: WeakMap<Booking, Settlement>;
    readonly bookedAtOf: (booking: Booking) => Date;
  },
): Promise<Outcome<AcceptedBooking>[]> {
  const claiming = decided.flatMap((it) => ("result" in it && hasSlot(it.result.windows) ? [it.result] : []));
  const claims = claiming.map((booking): SlotClaim => {
    const { call, reference, request, route, windows } = booking;
    const holder = { reference, quoteId: request.quoteId ?? null };
    const fills = call.received.simulation?.fillsSlots;
    return { caller: call.caller, holder, weightKg: route.weightKg, windows, at: bookedAtOf(booking), fills };
  });
  const reserved = await reserveSlots(slots, claims, now());
  const results = new Map(claiming.map((booking, i) => [booking, reserved[i]!]));
  return decided.map((it, i) => {
    const settlement = "result" in it ? results.get(it.result) : undefined;
    if (settlement instanceof Refusal) return { refused: settlement };
    if (settlement !== undefined) settlements.set(bookings[i]!, settlement);
    return it;
  });
}

function bookedCustomer({ request, facts }: AcceptedBooking): BookedCustomer {
  return {
    name: request.customerName,
    email: request.customerEmail,
    idNumber: request.customerIdNumber,
    row: facts.customer,
    newId: facts.newCustomerId,
  };
}

function bookShipment(
  { request, call, reference, route, dropoffZone, tariffVersion, fees, priced, windows, metadata }: AcceptedBooking,
  customer: CustomerRow,
  bookedAt: Date,
): ChangedShipment {
  const fields = bookedFields(request);
  const asked = verificationOf(request.dropoffVerification) ?? "none";
  const row = {
    reference,
    ...BOOKED,
    createdBy: call.caller.member?.email ?? null,
    customer,
    ...fields,
    pickupLat: route.pickup.lat,
    pickupLng: route.pickup.lng,
    dropoffLat: route.dropoff.lat,
    dropoffLng: route.dropoff.lng,
    dropoffZone,
    weightKg: route.weightKg,
    ...priceColumns(priced),
    windows: storedWindows(windows),
    verification: storedVerification(requiredVerification(fields.dropoffHandover, asked)),
    tariff: tariffVersion,
    fees,
    createdAt: bookedAt,
    updatedAt: bookedAt,
    cancelledAt: null,
    cancelReason: null,
    cancelNote: null,
    deliveredAt: null,
    returnedAt: null,
    recipientEdits: 0,
    metadata,
    paymentDetails: null,
    progress: null,
    version: 1,
    eventCount: 0,
  };
  // Price previews in a form do not count as quotes in reports, so their bookings do not count as quoted.
  const isByKey = call.caller.keyId !== undefined;
  const quoted = isByKey && (request.expectedTotal ?? request.quoteId) !== undefined;
  return { quoted, ...shipmentEvents(["shipment.created"], undefined, row, call) };
}
