import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import {
  ShipmentService,
  UpdateShipmentResponseSchema,
  type UpdateShipmentRequestValid,
  type UpdateShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { Customer } from "../customers/customer.entity.ts";
import type { EntityManager } from "../../db/orm.ts";
import { quote } from "../../domain/pricing/pricing.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { Refusal, refuse, type Problem } from "../../domain/refusal.ts";
import { hasEnded } from "../../domain/shipment/shipment-state.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { TariffCache } from "../tariffs/tariff-cache.ts";
import type { Call } from "../../pipeline/call.ts";
import { changeShipment } from "./change-shipment.ts";
import type { FoundShipment } from "./find-shipment.ts";
import { mergeMetadata } from "./merge-metadata.ts";
import { priceColumns, coverageProblems } from "./price.ts";
import { routeOf } from "./route-of.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Changes the fields that are given: until the shipment has ended the addresses, the customer and
 * the metadata; while it is pending also coordinates and weight, priced anew by the tariff in
 * force. When nothing differs nothing is written, and the etag stays.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, ETAG_STALE, SHIPMENT_STATE, FIELD_INVALID (an unknown
 * customer, too much metadata), ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED
 */
export function updateShipment(
  request: UpdateShipmentRequestValid,
  call: Call,
  { em, tariffs, now }: ShipmentDeps,
): Promise<UpdateShipmentResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ShipmentService.method.updateShipment, request, call, async (tx) => {
    const updated = await changeShipment(tx, workspaceId, request.shipment, async (shipment) => {
      assertEtagCurrent(shipment, request.etag);
      if (hasEnded(shipment.status)) throw stateError("The shipment", shipment);
      const changes = {
        ...changedTexts(shipment, request),
        ...(await changedRoute(shipment, request, tx, tariffs)),
        customer: await changedCustomer(shipment, request, tx),
      };
      if (differs(shipment, changes)) tx.assign(shipment, { ...changes, updatedAt: now() });
      // The ORM takes a customer that is loaded for a changed one, and would raise the version.
      else tx.clear();
      return shipment;
    });
    return create(UpdateShipmentResponseSchema, { data: shipmentMessage(updated) });
  });
}

function assertEtagCurrent(shipment: FoundShipment, etag: string | undefined): void {
  if (etag === undefined || etag === String(shipment.version)) return;
  throw refuse(
    "ETAG_STALE",
    "etag is not the shipment's any more: it was changed meanwhile. Read it again.",
    { subject: "etag" },
  );
}

function stateError(what: string, { status }: FoundShipment): Refusal {
  const text = `${what} cannot be changed because it is ${status.replace("_", " ")}.`;
  return refuse("SHIPMENT_STATE", text, { subject: "shipment" });
}

function changedTexts(shipment: FoundShipment, request: UpdateShipmentRequestValid) {
  return {
    pickupAddress: request.pickupAddress ?? shipment.pickupAddress,
    dropoffAddress: request.dropoffAddress ?? shipment.dropoffAddress,
    metadata: mergeMetadata(shipment.metadata, request.metadata),
  };
}

async function changedRoute(
  shipment: FoundShipment,
  request: UpdateShipmentRequestValid,
  tx: EntityManager,
  tariffs: TariffCache,
) {
  const route = {
    pickupLat: request.pickupLat ?? shipment.pickupLat,
    pickupLng: request.pickupLng ?? shipment.pickupLng,
    dropoffLat: request.dropoffLat ?? shipment.dropoffLat,
    dropoffLng: request.dropoffLng ?? shipment.dropoffLng,
    weightKg: request.weightKg ?? shipment.weightKg,
  };
  if (!differs(shipment, route)) return {};
  if (shipment.status !== "pending") throw stateError("The shipment's route and weight", shipment);
  const { version, pricing } = await tariffs.inForce(tx);
  const result = quote(pricing, routeOf(route));
  if (!result.covered) throw new Refusal(coverageProblems(result) as [Problem, ...Problem[]]);
  return { ...route, ...priceColumns(result), tariff: version };
}

async function changedCustomer(
  shipment: FoundShipment,
  request: UpdateShipmentRequestValid,
  tx: EntityManager,
): Promise<Customer> {
  if (request.customerId === undefined) return shipment.customer;
  const id = readRecordId(request.customerId) ?? 0;
  const customer = await tx.findOne(Customer, { workspace: shipment.workspace, id });
  if (customer !== null) return customer;
  throw refuse("FIELD_INVALID", "customer_id is no customer of the workspace.", {
    subject: "customer_id",
  });
}

function differs(shipment: FoundShipment, changes: Partial<FoundShipment>): boolean {
  return Object.entries(changes).some(
    ([name, value]) => !isDeepStrictEqual(value, shipment[name as keyof FoundShipment]),
  );
}
