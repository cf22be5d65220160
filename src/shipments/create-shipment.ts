import { create } from "@bufbuild/protobuf";
import {
  CreateShipmentResponseSchema,
  type CreateShipmentRequestValid,
  type CreateShipmentResponse,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import { linkCustomer } from "../customers/link-customer.ts";
import type { EntityManager } from "../db/orm.ts";
import { quote, roundKm, type CoveredQuote, type Quote } from "../domain/pricing.ts";
import { Refusal, type Problem } from "../domain/refusal.ts";
import { mintReference } from "../domain/shipment-reference.ts";
import { BOOKED } from "../domain/shipment-state.ts";
import type { Tariffs } from "../platform/tariffs.ts";
import type { Call } from "../rpc/caller.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { routeOf } from "./route-of.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { Shipment } from "./shipment.entity.ts";

/**
 * Books a shipment, in one transaction, priced with the tariff in force when the transaction reads
 * it.
 *
 * @throws Refusal with everything that stands in the way: ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED,
 * PAYMENT_PROVIDER_NOT_CONNECTED
 */
export async function createShipment(
  request: CreateShipmentRequestValid,
  call: Call,
  { em, tariffs, now }: { em: EntityManager; tariffs: Tariffs; now: () => Date },
): Promise<CreateShipmentResponse> {
  const { workspaceId } = call.caller;
  const shipment = await em.fork().transactional(async (tx) => {
    const { version, pricing } = await tariffs.inForce(tx);
    const result = quote(pricing, routeOf(request));
    const connection = await tx.findOne(PaymentConnection, { workspace: workspaceId });
    refuseUnlessBookable(result, connection !== null);

    const bookedAt = now();
    const customer = await linkCustomer(tx, workspaceId, customerOf(request), bookedAt);
    return tx.create(Shipment, {
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
      ...priceOf(result as CoveredQuote),
      tariff: version,
      createdAt: bookedAt,
      updatedAt: bookedAt,
      cancelledAt: null,
    });
  });
  return create(CreateShipmentResponseSchema, { data: shipmentMessage(shipment) });
}

function refuseUnlessBookable(result: Quote, providerConnected: boolean): void {
  const problems: Problem[] = result.covered ? [] : result.problems.map(asProblem);
  if (!providerConnected) problems.push(PROVIDER_MISSING);
  if (problems.length > 0) throw new Refusal(problems as [Problem, ...Problem[]]);
}

const PROVIDER_MISSING: Problem = {
  reason: "PAYMENT_PROVIDER_NOT_CONNECTED",
  subject: "payment_provider",
  text: "The workspace has no payment provider connected; connect one before booking.",
};

function asProblem(problem: { failure: "coverage" | "weight"; message: string }): Problem {
  return problem.failure === "coverage"
    ? { reason: "ROUTE_NOT_COVERED", subject: "coverage", text: problem.message }
    : { reason: "WEIGHT_NOT_SERVED", subject: "weight_kg", text: problem.message };
}

function customerOf(request: CreateShipmentRequestValid) {
  // No customer has an id beyond 2^53, where the conversion would be inexact: such an id is as good
  // as unknown.
  const id = Number(request.customerId);
  return {
    name: request.customerName,
    email: request.customerEmail,
    id: Number.isSafeInteger(id) ? id : undefined,
    idNumber: request.customerIdNumber,
  };
}

function priceOf(priced: CoveredQuote) {
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFeeMinor: priced.distanceFeeMinor,
    weightFeeMinor: priced.weightFeeMinor,
    baseFeeMinor: priced.baseFeeMinor,
    subtotalMinor: priced.subtotalMinor,
    totalMinor: priced.totalMinor,
    currency: priced.currency,
  };
}
