import { create } from "@bufbuild/protobuf";
import type { Loaded } from "@mikro-orm/postgresql";
import {
  CreateShipmentResponseSchema,
  type CreateShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { mintReference } from "../../domain/shipment/shipment-reference.ts";
import { BOOKED } from "../../domain/shipment/shipment-state.ts";
import type { Customer } from "../customers/customer.entity.ts";
import type { BookedCustomer } from "../customers/link-customers.ts";
import { Event } from "../events/event.entity.ts";
import type { AcceptedBooking } from "./check-booking.ts";
import { priceColumns } from "./price.ts";
import { shipmentEvents } from "./shipment-events.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { rowOfEntity } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** The customer that a booking is for. */
export function bookedCustomer({ request, call, facts }: AcceptedBooking): BookedCustomer {
  return {
    workspace: call.caller.workspaceId,
    name: request.customerName,
    email: request.customerEmail,
    row: facts.customer,
    newId: facts.newCustomerId,
  };
}

/** Adds a booked shipment and its event to the unit of work, and gives the response to its call. */
export function insertShipment(
  tx: EntityManager,
  { request, call, tariffVersion, priced, metadata }: AcceptedBooking,
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
    ...priceColumns(priced),
    tariff: tariffVersion,
    createdAt: bookedAt,
    updatedAt: bookedAt,
    cancelledAt: null,
    externalReference: request.externalReference ?? null,
    metadata,
    eventCount: 0,
  }) as Loaded<Shipment, "customer">;
  const booked = { ...rowOfEntity(shipment), version: 1 };
  const { row, events } = shipmentEvents(call.caller.workspaceId, undefined, booked);
  shipment.eventCount = row.eventCount;
  for (const event of events) tx.create(Event, { ...event, createdAt: bookedAt });
  return create(CreateShipmentResponseSchema, { data: shipmentMessage(row) });
}
