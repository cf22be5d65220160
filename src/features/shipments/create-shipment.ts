import { create } from "@bufbuild/protobuf";
import {
  type CreateShipmentRequestValid,
  type CreateShipmentResponse,
  CreateShipmentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { createReference } from "../../domain/shipment/shipment-reference.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import type { CustomerRow } from "../customers/customer.entity.ts";
import { type BookedCustomer, linkCustomers } from "../customers/link-customers.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import {
  type AcceptedBooking,
  type Booking,
  checkBooking,
  priceColumns,
  loadBookingFacts,
} from "./check-booking.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { type ChangedShipment, insertShipments, shipmentEvents } from "./write-shipments.ts";

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
    serializeBy: externalReferenceKey,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, bookings: readonly Booking[]) =>
      withIdempotencyEach(tx, bookings, (fresh) => bookEach(tx, fresh, deps)),
  });
  return async (request, call) => {
    const book = () => commitInGroup({ method, request, call });
    const response = await rejectIfInFlight(call, book);
    if (!call.replayed) announce(call.caller.workspaceId);
    return response;
  };
}

/** Of two bookings with one external reference, the second has to find the first committed. */
function externalReferenceKey({ request, call }: Booking): string | undefined {
  if (request.externalReference === undefined) return undefined;
  return `${call.caller.workspaceId} ${request.externalReference}`;
}

async function bookEach(
  tx: EntityManager,
  bookings: readonly Booking[],
  { tariffs, now }: BookingDeps,
): Promise<Outcome<CreateShipmentResponse>[]> {
  const facts = await loadBookingFacts(tx, bookings);
  const tariff = await tariffs.byVersion(facts[0]!.tariffVersion);
  const checked = bookings.map((booking, i) => checkBooking(booking, facts[i]!, tariff));
  const accepted = checked.flatMap((it) => ("result" in it ? [it.result] : []));

  const bookedAt = now();
  const { customers, written } = linkCustomers(accepted.map(bookedCustomer), bookedAt);
  const booked = accepted.map((it, i) => bookShipment(it, customers[i]!, bookedAt));
  await insertShipments(tx, booked, written);
  const responses = booked.map(({ row }) =>
    create(CreateShipmentResponseSchema, { data: shipmentMessage(row) }),
  );
  return checked.map((it) => ("result" in it ? { result: responses.shift()! } : it));
}

/** The customer that a booking is for. */
function bookedCustomer({ request, call, facts }: AcceptedBooking): BookedCustomer {
  return {
    workspace: call.caller.workspaceId,
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
  const workspace = call.caller.workspaceId;
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
  return { workspace, quoted, ...shipmentEvents(undefined, row, call) };
}
