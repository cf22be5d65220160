import { create } from "@bufbuild/protobuf";
import {
  type CreateShipmentRequestValid,
  type CreateShipmentResponse,
  CreateShipmentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Outcome } from "../../db/group-commit.ts";
import { byOwner } from "../../db/by-owner.ts";
import type { Transaction } from "../../db/transaction.ts";
import { createReference } from "../../domain/shipment/shipment-reference.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import type { CustomerRow } from "../customers/customer.entity.ts";
import { type BookedCustomer, linkCustomers } from "../customers/link-customers.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import {
  type AcceptedBooking,
  type Booking,
  type BookingFacts,
  checkBooking,
  priceColumns,
  loadBookingFacts,
} from "./check-booking.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";
import {
  type ChangedShipment,
  insertEventsOf,
  insertShipments,
  shipmentEvents,
} from "./write-shipments.ts";

/** How many bookings share one transaction at most. */
const MAX_GROUP = 64;

/** What bookings need. */
type BookingDeps = Pick<ShipmentDeps, "createGroup" | "tariffs" | "now">;

/**
 * Builds the function that books shipments. Bookings that arrive while others are being written
 * share the next transaction; each is answered after the commit and fails independently. The price
 * is that of the tariff in force when the transaction reads it.
 *
 * A booking is refused with every violation it has of ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED and
 * PAYMENT_PROVIDER_NOT_CONNECTED; if it has none of these, for PRICE_CHANGED, then
 * EXTERNAL_REFERENCE_TAKEN, then FIELD_INVALID (too much metadata).
 *
 * @param announce is called with a workspace once a booking in it is committed
 */
export function createBookShipment(
  deps: BookingDeps,
  announce: (workspace: number) => void,
): (request: CreateShipmentRequestValid, call: Call) => Promise<CreateShipmentResponse> {
  const rejectIfInFlight = createRejectIfInFlight();
  const method = ShipmentService.method.createShipment;
  const commitInGroup = deps.createGroup({
    name: "bookings",
    maxMembers: MAX_GROUP,
    workspaceOf,
    serializeBy: externalReferenceKey,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, bookings: readonly Booking[]) =>
      withIdempotencyEach(tx, bookings, {
        load: (all) => loadBookingFacts(tx, all),
        run: (fresh, facts) => bookEach(tx, fresh, facts, deps),
      }),
  });
  return async (request, call) => {
    const book = () => commitInGroup({ method, request, call });
    const response = await rejectIfInFlight(call, book);
    if (!call.replayed) announce(call.caller.workspaceId);
    return response;
  };
}

const workspaceOf = ({ call }: Booking) => call.caller.workspaceId;

/** Of two bookings with one external reference, the second has to find the first committed. */
function externalReferenceKey({ request, call }: Booking): string | undefined {
  if (request.externalReference === undefined) return undefined;
  return `${call.caller.workspaceId} ${request.externalReference}`;
}

async function bookEach(
  tx: Transaction,
  bookings: readonly Booking[],
  facts: readonly BookingFacts[],
  { tariffs, now }: BookingDeps,
): Promise<Outcome<CreateShipmentResponse>[]> {
  const tariff = await tariffs.byVersion(facts[0]!.tariffVersion);
  const checked = bookings.map((booking, i) => checkBooking(booking, facts[i]!, tariff));
  const accepted = checked.flatMap((it) => ("result" in it ? [it.result] : []));
  const bookedAt = now();
  const responses = new Map<AcceptedBooking, CreateShipmentResponse>();
  const written = byOwner(accepted, workspaceOf).map(([workspace, own]) => {
    const { customers, changed } = linkCustomers(own.map(bookedCustomer), bookedAt);
    const booked = own.map((it, i) => bookShipment(it, customers[i]!, bookedAt));
    insertShipments(tx, workspace, booked, changed);
    booked.forEach(({ row }, i) => {
      responses.set(own[i]!, create(CreateShipmentResponseSchema, { data: shipmentMessage(row) }));
    });
    return { workspace, booked, subscribers: own[0]!.facts.subscribers };
  });
  for (const { workspace, booked, subscribers } of written) {
    insertEventsOf(tx, workspace, booked, subscribers);
  }
  return checked.map((it) => ("result" in it ? { result: responses.get(it.result)! } : it));
}

/** The customer that a booking is for. */
function bookedCustomer({ request, facts }: AcceptedBooking): BookedCustomer {
  return {
    name: request.customerName,
    email: request.customerEmail,
    idNumber: request.customerIdNumber,
    row: facts.customer,
    newId: facts.newCustomerId,
  };
}

/** The shipment that a booking makes, with its event. */
function bookShipment(
  { request, call, tariffVersion, priced, metadata }: AcceptedBooking,
  customer: CustomerRow,
  bookedAt: Date,
): ChangedShipment {
  const row = {
    reference: createReference(),
    ...BOOKED,
    createdBy: call.caller.member?.email ?? null,
    customer,
    pickupAddress: request.pickupAddress,
    pickupLat: request.pickupLat,
    pickupLng: request.pickupLng,
    dropoffAddress: request.dropoffAddress,
    dropoffLat: request.dropoffLat,
    dropoffLng: request.dropoffLng,
    weightKg: request.weightKg,
    ...priceColumns(priced),
    tariff: tariffVersion,
    createdAt: bookedAt,
    updatedAt: bookedAt,
    cancelledAt: null,
    cancelReason: null,
    cancelNote: null,
    externalReference: request.externalReference ?? null,
    metadata,
    version: 1,
    eventCount: 0,
  };
  const quoted = request.expectedTotal !== undefined;
  return { quoted, ...shipmentEvents(undefined, row, call) };
}
