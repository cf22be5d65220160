import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import {
  UpdateShipmentResponseSchema,
  ShipmentService,
  type UpdateShipmentRequestValid,
  type UpdateShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import { quote, routeOf } from "../../domain/pricing/pricing.ts";
import { Refusal, refuse, type Violation } from "../../domain/refusal.ts";
import { hasEnded } from "../../domain/shipment/shipment-state.ts";
import { type CustomerRow, customerJson } from "../customers/customer.entity.ts";
import { VERSION_IN_FORCE } from "../tariffs/versions/load-version.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import type { Call } from "../../pipeline/call.ts";
import { coverageViolations, mergeMetadata, priceColumns } from "./check-booking.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Changes what is given and leaves the rest: until delivery the addresses' text, the customer and
 * the metadata; while pending also coordinates and weight, at the price of the tariff in force.
 * When nothing differs, nothing is written and the etag stays.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, ETAG_STALE, SHIPMENT_STATE, FIELD_INVALID (an unknown
 * customer, too much metadata), ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED
 */
export function updateShipment(
  request: UpdateShipmentRequestValid,
  call: Call,
  { changeShipment, tariffs, now }: ShipmentDeps,
): Promise<UpdateShipmentResponse> {
  const { workspaceId } = call.caller;
  return changeShipment({
    method: ShipmentService.method.updateShipment,
    request,
    call,
    load: (tx) => loadFacts(tx, workspaceId, request),
    async change(row, facts) {
      assertEtag(row, request.etag);
      if (hasEnded(row.status)) throw stateError("The shipment", row);
      const changes: Partial<ShipmentRow> = {
        ...changedTexts(row, request),
        ...(await changedRoute(row, request, facts, tariffs)),
        customer: changedCustomer(row, request, facts),
      };
      if (!differs(row, changes)) return row;
      return { ...row, ...changes, updatedAt: now() };
    },
    respond: (row) => create(UpdateShipmentResponseSchema, { data: shipmentMessage(row) }),
  });
}

/** What the database has that an update depends on. */
interface UpdateFacts {
  /** The tariff version in force; null while there is none. */
  readonly tariffVersion: number | null;
  /** The customer that the request names; null when there is none. */
  readonly customer: CustomerRow | null;
}

const LOAD_FACTS = `
  select ${VERSION_IN_FORCE} as "tariffVersion",
    (select ${customerJson("customer")} from customer where workspace_id = $1 and id = $2) as customer`;

async function loadFacts(
  tx: Transaction,
  workspace: number,
  { customerId }: UpdateShipmentRequestValid,
): Promise<UpdateFacts> {
  const values = [workspace, readRecordId(customerId) ?? null];
  const [facts] = await tx.send<UpdateFacts>(LOAD_FACTS, values);
  return facts!;
}

function assertEtag({ version }: ShipmentRow, etag: string | undefined): void {
  if (!etag || etag === String(version)) return;
  throw refuse(
    "ETAG_STALE",
    "etag is not the shipment's any more: it was changed meanwhile. Read it again.",
    { subject: "etag" },
  );
}

function stateError(what: string, { status }: ShipmentRow): Refusal {
  const text = `${what} cannot be changed because it is ${status.replace("_", " ")}.`;
  return refuse("SHIPMENT_STATE", text, { subject: "shipment" });
}

function changedTexts(row: ShipmentRow, request: UpdateShipmentRequestValid) {
  const metadata = request.clear.includes("metadata") ? {} : row.metadata;
  return {
    pickupAddress: request.pickupAddress ?? row.pickupAddress,
    dropoffAddress: request.dropoffAddress ?? row.dropoffAddress,
    metadata: mergeMetadata(metadata, request.metadata),
  };
}

async function changedRoute(
  row: ShipmentRow,
  request: UpdateShipmentRequestValid,
  { tariffVersion }: UpdateFacts,
  tariffs: TariffCache,
): Promise<Partial<ShipmentRow>> {
  // Adding 0 makes 0 of -0, which is the same place.
  const route = {
    pickupLat: (request.pickupLat ?? row.pickupLat) + 0,
    pickupLng: (request.pickupLng ?? row.pickupLng) + 0,
    dropoffLat: (request.dropoffLat ?? row.dropoffLat) + 0,
    dropoffLng: (request.dropoffLng ?? row.dropoffLng) + 0,
    weightKg: request.weightKg ?? row.weightKg,
  };
  if (!differs(row, route)) return {};
  if (row.status !== "pending") throw stateError("The shipment's route and weight", row);
  const { version, pricing } = await tariffs.byVersion(tariffVersion);
  const result = quote(pricing, routeOf(route));
  if (!result.covered) throw new Refusal(coverageViolations(result) as [Violation, ...Violation[]]);
  return { ...route, ...priceColumns(result), tariff: version };
}

function changedCustomer(
  row: ShipmentRow,
  request: UpdateShipmentRequestValid,
  { customer }: UpdateFacts,
): CustomerRow {
  if (request.customerId === undefined) return row.customer;
  if (customer !== null) return customer;
  throw refuse("FIELD_INVALID", "customer_id is no customer of the workspace.", {
    subject: "customer_id",
  });
}

function differs(row: ShipmentRow, changes: Partial<ShipmentRow>): boolean {
  return Object.entries(changes).some(
    ([name, value]) => !isDeepStrictEqual(value, row[name as keyof ShipmentRow]),
  );
}
