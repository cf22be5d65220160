import { create } from "@bufbuild/protobuf";
import type { Loaded } from "@mikro-orm/postgresql";
import {
  CreateShipmentResponseSchema,
  ShipmentService,
  type CreateShipmentRequestValid,
  type CreateShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Customer } from "../customers/customer.entity.ts";
import { linkCustomers, type BookedCustomer } from "../customers/link-customers.ts";
import { createGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { quote, type CoveredQuote } from "../../domain/pricing/pricing.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { Refusal, refuse, type Problem } from "../../domain/refusal.ts";
import { mintReference } from "../../domain/shipment/shipment-reference.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import { withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import { createInFlightKeys } from "../idempotency/reject-if-in-flight.ts";
import type { PricedTariff } from "../tariffs/tariff-cache.ts";
import type { Call } from "../../pipeline/call.ts";
import { mergeMetadata, type Metadata } from "./metadata.ts";
import { refusePriceChange } from "./price-guard.ts";
import { priceOf, problemsOf } from "./price.ts";
import { readBeforeBooking, type BookingFacts, type SoughtBooking } from "./read-before-booking.ts";
import { routeOf } from "./route-of.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { rowOfEntity } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";
import { recordShipmentEvents } from "./record-shipment-events.ts";

/** How many bookings one transaction makes at most. */
const MAX_GROUP = 64;

/** What bookings are made with. */
type BookingDeps = Pick<ShipmentDeps, "em" | "tariffs" | "now">;

/** Books a shipment for a caller. */
type CreateShipment = (
  request: CreateShipmentRequestValid,
  call: Call,
) => Promise<CreateShipmentResponse>;

/**
 * Makes bookings, each whole or not at all. Those that arrive while others are being written go
 * together in the next transaction, and each is answered once it is committed; how one ends is
 * nothing to another. Each is priced with the tariff in force when its transaction reads it.
 *
 * A booking is refused with everything that stands in its way: ROUTE_NOT_COVERED,
 * WEIGHT_NOT_SERVED, PAYMENT_PROVIDER_NOT_CONNECTED; else PRICE_CHANGED or
 * EXTERNAL_REFERENCE_TAKEN.
 */
export function createBookings(deps: BookingDeps): CreateShipment {
  const rejectIfInFlight = createInFlightKeys();
  const makeInGroup = createGroup({
    em: deps.em,
    maxMembers: MAX_GROUP,
    serializeBy: externalNameOf,
    deadlineMs: ({ call }) => call.deadlineMs ?? Infinity,
    work: (tx, bookings: readonly Booking[]) =>
      withIdempotencyEach(tx, bookings, (fresh) => book(tx, fresh as readonly Booking[], deps)),
  });
  return (request, call) =>
    rejectIfInFlight(call, () =>
      makeInGroup({ method: ShipmentService.method.createShipment, request, call }),
    );
}

/** A booking that a caller asks for. */
interface Booking {
  readonly method: typeof ShipmentService.method.createShipment;
  readonly request: CreateShipmentRequestValid;
  readonly call: Call;
}

/** The second of two bookings with one external reference is to find the first. */
function externalNameOf({ request, call }: Booking): string | undefined {
  if (request.externalReference === undefined) return undefined;
  return `${call.caller.workspaceId} ${request.externalReference}`;
}

async function book(
  tx: EntityManager,
  bookings: readonly Booking[],
  { tariffs, now }: BookingDeps,
): Promise<Outcome<CreateShipmentResponse>[]> {
  const facts = await readBeforeBooking(tx, bookings.map(soughtFor));
  const tariff = await tariffs.readToBeInForce(tx, facts[0]!.tariffVersion);
  const checked = bookings.map((booking, i) => outcomeOf(() => check(booking, facts[i]!, tariff)));
  const accepted = checked.flatMap((it) => ("result" in it ? [it.result] : []));
  const bookedAt = now();
  const customers = linkCustomers(tx, accepted.map(customerOf), bookedAt);
  const made = accepted.map((it, i) => make(tx, it, customers[i]!, bookedAt)).values();
  return checked.map((it) => ("result" in it ? { result: made.next().value! } : it));
}

/** A booking in whose way nothing stands. */
interface AcceptedBooking extends Booking {
  readonly facts: BookingFacts;
  readonly version: number;
  readonly priced: CoveredQuote;
  readonly metadata: Metadata;
}

function check(
  booking: Booking,
  facts: BookingFacts,
  { version, pricing }: PricedTariff,
): AcceptedBooking {
  const { request } = booking;
  const result = quote(pricing, routeOf(request));
  const problems = problemsOf(result);
  if (!facts.providerConnected) problems.push(PROVIDER_MISSING);
  if (problems.length > 0) throw new Refusal(problems as [Problem, ...Problem[]]);
  const priced = result as CoveredQuote;
  refusePriceChange(priced, request);
  if (facts.takenBy !== null) throw refuseTakenReference(facts.takenBy);
  return { ...booking, facts, version, priced, metadata: mergeMetadata({}, request.metadata) };
}

function make(
  tx: EntityManager,
  { request, call, version, priced, metadata }: AcceptedBooking,
  customer: Customer,
  bookedAt: Date,
): CreateShipmentResponse {
  if (request.customerIdNumber !== undefined) customer.idNumber = request.customerIdNumber;
  const shipment = tx.create(Shipment, {
    workspace: call.caller.workspaceId,
    reference: mintReference(),
    ...BOOKED,
    createdBy: null,
    customer,
    pickupAddress: request.pickupAddress,
    pickupLat: request.pickupLat,
    pickupLng: request.pickupLng,
    dropoffAddress: request.dropoffAddress,
    dropoffLat: request.dropoffLat,
    dropoffLng: request.dropoffLng,
    weightKg: request.weightKg,
    ...priceOf(priced),
    tariff: version,
    createdAt: bookedAt,
    updatedAt: bookedAt,
    cancelledAt: null,
    externalReference: request.externalReference ?? null,
    metadata,
    eventCount: 0,
  }) as Loaded<Shipment, "customer">;
  const booked = { ...rowOfEntity(shipment), version: 1 };
  const row = recordShipmentEvents(tx, call.caller.workspaceId, undefined, booked);
  shipment.eventCount = row.eventCount;
  return create(CreateShipmentResponseSchema, { data: shipmentMessage(row) });
}

const PROVIDER_MISSING: Problem = {
  reason: "PAYMENT_PROVIDER_NOT_CONNECTED",
  subject: "payment_provider",
  text: "The workspace has no payment provider connected; connect one before booking.",
};

function refuseTakenReference(shipment: string): Refusal {
  return refuse(
    "EXTERNAL_REFERENCE_TAKEN",
    `external_reference belongs to the shipment ${shipment} already.`,
    { subject: "external_reference", facts: { shipment } },
  );
}

function soughtFor({ request, call }: Booking): SoughtBooking {
  return {
    workspace: call.caller.workspaceId,
    externalReference: request.externalReference,
    customerId: readRecordId(request.customerId),
    name: request.customerName,
    email: request.customerEmail,
  };
}

function customerOf({ request, call, facts }: AcceptedBooking): BookedCustomer {
  return {
    workspace: call.caller.workspaceId,
    name: request.customerName,
    email: request.customerEmail,
    row: facts.customer,
    newId: facts.newCustomerId,
  };
}

/** What comes of a check; only a refusal is an outcome, anything else is a defect. */
function outcomeOf<Result>(work: () => Result): Outcome<Result> {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error };
    throw error;
  }
}
