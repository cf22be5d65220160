import { create } from "@bufbuild/protobuf";
import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import {
  CreateShipmentResponseSchema,
  ShipmentService,
  type CreateShipmentRequestValid,
  type CreateShipmentResponse,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import { linkCustomer } from "../customers/link-customer.ts";
import type { EntityManager } from "../db/orm.ts";
import { recordShipmentEvents } from "../events/record-event.ts";
import { quote, type CoveredQuote } from "../domain/pricing.ts";
import { readRecordId } from "../domain/record-id.ts";
import { Refusal, refuse, type Problem } from "../domain/refusal.ts";
import { mintReference } from "../domain/shipment-reference.ts";
import { BOOKED } from "../domain/shipment-state.ts";
import { answerOnce } from "../idempotency/answer-once.ts";
import type { Call } from "../rpc/caller.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import type { FoundShipment } from "./find-shipment.ts";
import { mergeMetadata } from "./metadata.ts";
import { refusePriceChange } from "./price-guard.ts";
import { priceOf, problemsOf } from "./price.ts";
import { routeOf } from "./route-of.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { Shipment } from "./shipment.entity.ts";

/**
 * Books a shipment, in one transaction, priced with the tariff in force when the transaction reads
 * it.
 *
 * @throws Refusal with everything that stands in the way: ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED,
 * PAYMENT_PROVIDER_NOT_CONNECTED; else PRICE_CHANGED or EXTERNAL_REFERENCE_TAKEN
 */
export async function createShipment(
  request: CreateShipmentRequestValid,
  call: Call,
  deps: ShipmentDeps,
): Promise<CreateShipmentResponse> {
  const { workspaceId } = call.caller;
  const method = ShipmentService.method.createShipment;
  try {
    return await answerOnce(deps.em, method, request, call, async (tx) => {
      const shipment = await book(tx, workspaceId, request, deps);
      await tx.flush();
      return create(CreateShipmentResponseSchema, { data: shipmentMessage(shipment) });
    });
  } catch (error) {
    // Another booking with the same external reference committed first.
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    await refuseTakenReference(deps.em.fork(), workspaceId, request.externalReference);
    throw error;
  }
}

async function book(
  tx: EntityManager,
  workspaceId: number,
  request: CreateShipmentRequestValid,
  { tariffs, now }: ShipmentDeps,
): Promise<FoundShipment> {
  const { version, pricing } = await tariffs.inForce(tx);
  const result = quote(pricing, routeOf(request));
  const connection = await tx.findOne(PaymentConnection, { workspace: workspaceId });
  const problems = problemsOf(result);
  if (connection === null) problems.push(PROVIDER_MISSING);
  if (problems.length > 0) throw new Refusal(problems as [Problem, ...Problem[]]);
  const priced = result as CoveredQuote;
  refusePriceChange(priced, request);
  await refuseTakenReference(tx, workspaceId, request.externalReference);

  const bookedAt = now();
  const customer = await linkCustomer(tx, workspaceId, customerOf(request), bookedAt);
  const shipment = tx.create(Shipment, {
    workspace: workspaceId,
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
    metadata: mergeMetadata({}, request.metadata),
    eventCount: 0,
  }) as FoundShipment;
  recordShipmentEvents(tx, shipment, undefined);
  return shipment;
}

const PROVIDER_MISSING: Problem = {
  reason: "PAYMENT_PROVIDER_NOT_CONNECTED",
  subject: "payment_provider",
  text: "The workspace has no payment provider connected; connect one before booking.",
};

async function refuseTakenReference(
  em: EntityManager,
  workspace: number,
  externalReference: string | undefined,
): Promise<void> {
  if (externalReference === undefined) return;
  const other = await em.findOne(Shipment, { workspace, externalReference });
  if (other === null) return;
  throw refuse(
    "EXTERNAL_REFERENCE_TAKEN",
    `external_reference belongs to the shipment ${other.reference} already.`,
    { subject: "external_reference", facts: { shipment: other.reference } },
  );
}

function customerOf(request: CreateShipmentRequestValid) {
  return {
    name: request.customerName,
    email: request.customerEmail,
    id: readRecordId(request.customerId),
    idNumber: request.customerIdNumber,
  };
}
