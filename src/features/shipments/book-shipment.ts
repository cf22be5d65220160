import { mintReference } from "../../domain/shipment/shipment-reference.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import type { CustomerRow } from "../customers/customer-row.ts";
import type { BookedCustomer } from "../customers/link-customers.ts";
import type { AcceptedBooking } from "./check-booking.ts";
import { priceColumns } from "./price.ts";
import { shipmentEvents } from "./shipment-events.ts";
import type { ChangedShipment } from "./write-shipments.ts";

/** The customer that a booking is for. */
export function bookedCustomer({ request, call, facts }: AcceptedBooking): BookedCustomer {
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
export function bookShipment(
  { request, call, tariffVersion, priced, metadata }: AcceptedBooking,
  customer: CustomerRow,
  bookedAt: Date,
): ChangedShipment {
  const workspace = call.caller.workspaceId;
  const row = {
    reference: mintReference(),
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
    createdAtMs: bookedAt.getTime(),
    updatedAtMs: bookedAt.getTime(),
    cancelledAtMs: null,
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
