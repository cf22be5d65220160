import { isDeepStrictEqual } from "node:util";
import {
  UpdateShipmentRequestSchema,
  ShipmentService,
  type UpdateShipmentRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { quote, routeOf, withWindowFee, zoneOf, type CoveredQuote } from "../../domain/pricing/pricing.ts";
import { decideRoute, type WindowsOfRoute } from "../../domain/pricing/windows.ts";
import { assertEtag, invalidField, type Refusal, refuse, refuseAny } from "../../domain/refusal.ts";
import { type End, ENDS } from "../../domain/route-ends.ts";
import type { WindowsDecision } from "../../domain/schedule/decide-windows.ts";
import { requiredVerification } from "../../domain/shipment/delivery-details.ts";
import { withOtherVerification } from "../../domain/shipment/delivery-progress.ts";
import { storedVerification } from "../../domain/shipment/delivery-proof.ts";
import { hasEnded, stateError, statusText } from "../../domain/shipment/shipment-state.ts";
import { mergedWithId } from "../customers/customer-alias.entity.ts";
import { type CustomerRow, customerJson } from "../customers/customer.entity.ts";
import { VERSION_IN_FORCE } from "../tariffs/versions/load-version.ts";
import { windowsOf } from "../tariffs/versions/window-message.ts";
import { compileBookedFields } from "./booked-fields.ts";
import { coverageViolations, mergeMetadata, priceColumns } from "./check-booking.ts";
import { verificationOf } from "./shipment-message.ts";
import { retryAfterProviderCheck, ProviderCheckRequired } from "./provider-check.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { bookedWindows, storedWindows } from "./shipment-windows.ts";

/**
 * Changes the given fields. Addresses, customer and metadata can change until the final status, and windows until
 * pickup. Coordinates and weight can change while the shipment is pending, and are priced with the tariff in force. If
 * all values stay the same, nothing is written and the etag does not change.
 */
export const updateShipment: ShipmentFunctions["updateShipment"] = (
  request,
  call,
  { changeShipment, tariffs, payments, now },
) => {
  const { workspaceId } = call.caller;
  const change = (check?: ProviderCheckRequired) =>
    changeShipment({
      method: ShipmentService.method.updateShipment,
      request,
      call,
      load: (tx) => loadFacts(tx, workspaceId, request, now()),
      async change(row, facts, at) {
        // Expiring the checkout incremented the version, so the earlier etag is also valid.
        const isOnlyExpired = row.version - 1 === check?.version;
        const versions = isOnlyExpired ? [row.version, check.version] : [row.version];
        assertEtag("shipment", request.etag, ...versions.map(String));
        if (hasEnded(row.status)) throw notChangeable("The shipment", row);
        const route = await changedRoute(row, request, facts, { tariffs, at });
        const changes: Partial<ShipmentRow> = {
          ...changedFields(row, request),
          ...route.changes,
          customer: changedCustomer(row, request, facts),
          ...changedVerification(row, request),
        };
        if (!differs(row, changes)) return { row };
        assertPriceFree(row, changes, { ...facts, isAsked: check !== undefined });
        return { row: { ...row, ...changes, updatedAt: at }, windows: route.windows };
      },
    });
  const key = { workspace: workspaceId, reference: request.shipment };
  return retryAfterProviderCheck(change, () => payments.expireCheckout(key));
};

interface UpdateFacts {
  /** Tariff version in force. null if there is none. */
  readonly tariffVersion: number | null;
  readonly customer: CustomerRow | null;
  /** Whether a checkout is open and has not expired. */
  readonly hasOpenCheckout: boolean;
}

const LOAD_FACTS = `
  select ${VERSION_IN_FORCE} as "tariffVersion",
    coalesce(
      (select ${customerJson("customer")} from customer where workspace_id = $1 and id = $2),
      (${mergedWithId("$2")})) as customer,
    coalesce(
      (select state = 'open' and expires_at > $4::timestamptz from provider_payment
       where workspace_id = $1 and shipment_reference = $3), false) as "hasOpenCheckout"`;

async function loadFacts(
  tx: Transaction,
  workspace: number,
  { customerId, shipment }: UpdateShipmentRequestValid,
  now: Date,
): Promise<UpdateFacts> {
  const values = [workspace, readRecordId(customerId) ?? null, shipment, now.toISOString()];
  const [facts] = await tx.send<UpdateFacts>(LOAD_FACTS, values);
  return facts!;
}

function notChangeable(what: string, { status }: ShipmentRow): Refusal {
  return stateError(`${what} cannot be changed because it is ${statusText(status)}.`);
}

/**
 * Asserts that the price can change.
 *
 * @throws ProviderCheckRequired if an open checkout must be expired first; Refusal SHIPMENT_STATE
 * if a payment is processing, or the checkout of a disconnected account may still be paid
 */
function assertPriceFree(
  row: ShipmentRow,
  changes: Partial<ShipmentRow>,
  { hasOpenCheckout, isAsked }: Pick<UpdateFacts, "hasOpenCheckout"> & { readonly isAsked: boolean },
): void {
  const { totalMinor = row.totalMinor, currency = row.currency } = changes;
  if (totalMinor === row.totalMinor && currency === row.currency) return;
  const what = "The shipment's price";
  if (row.paymentDetails?.processing) throw processingError(what);
  const isShown = (row.paymentDetails?.checkout ?? null) !== null;
  if (!isShown && !hasOpenCheckout) return;
  if (isShown || !isAsked) throw new ProviderCheckRequired(row);
  throw paymentError(what, "it may still be paid at the checkout of a disconnected account");
}

const bookedFields = compileBookedFields(UpdateShipmentRequestSchema);

function changedFields(row: ShipmentRow, request: UpdateShipmentRequestValid) {
  const metadata = request.clear.includes("metadata") ? {} : row.metadata;
  return {
    ...bookedFields(request, row),
    metadata: mergeMetadata(metadata, request.metadata),
  };
}

/**
 * Applies new coordinates, weight and windows. The price of a pending shipment is recalculated. A paid shipment keeps
 * its price, and its windows can change until pickup.
 */
async function changedRoute(
  row: ShipmentRow,
  request: UpdateShipmentRequestValid,
  { tariffVersion }: UpdateFacts,
  { tariffs, at }: Pick<ShipmentDeps, "tariffs"> & { readonly at: Date },
): Promise<{ readonly changes: Partial<ShipmentRow>; readonly windows?: WindowsDecision["windows"] }> {
  // Adding 0 converts -0 to 0, so that -0 does not count as a change.
  const fields = {
    pickupLat: (request.pickupLat ?? row.pickupLat) + 0,
    pickupLng: (request.pickupLng ?? row.pickupLng) + 0,
    dropoffLat: (request.dropoffLat ?? row.dropoffLat) + 0,
    dropoffLng: (request.dropoffLng ?? row.dropoffLng) + 0,
    weightKg: request.weightKg ?? row.weightKg,
  };
  const requested = requestedWindows(row, request, fields);
  if (differs(row, fields)) assertPending(row);
  else if (!requested.haveChanged) return { changes: {} };
  else if (row.status === "in_transit") throw notChangeable("The shipment's windows", row);
  const { version, pricing } = await tariffs.byVersion(tariffVersion);
  const route = routeOf(fields);
  const quoted = quote(pricing, route);
  const isPending = row.status === "pending";
  if (isPending) refuseAny(coverageViolations(quoted));
  // Unchanged windows normally keep their fees. If the currency has changed, they are priced again.
  const unchanged = isPending && row.currency !== pricing.fees.currency ? {} : requested.unchanged;
  const decision = decideRoute(pricing, route, { ...requested, unchanged }, at.getTime());
  const { violations, facts, feeMinor } = decision;
  refuseAny(violations, { facts });
  const windows = storedWindows(decision.windows);
  if (isPending) {
    const priced = withWindowFee(quoted as CoveredQuote, feeMinor);
    const by = { tariff: version, fees: pricing.fees };
    const dropoffZone = zoneOf(pricing, route.dropoff)!.name;
    const changes = { ...fields, dropoffZone, ...priceColumns(priced), windows, ...by };
    return { changes, windows: decision.windows };
  }
  assertPaidFor(row, decision, { unchanged, currency: pricing.fees.currency });
  return { changes: { windows }, windows: decision.windows };
}

function assertPending(row: ShipmentRow): void {
  const what = "The shipment's route and weight";
  if (row.status !== "pending") throw notChangeable(what, row);
  if (row.paymentDetails?.processing) throw processingError(what);
}

function processingError(what: string): Refusal {
  return paymentError(what, "its payment is processing");
}

function paymentError(what: string, reason: string): Refusal {
  return stateError(`${what} cannot be changed because ${reason}.`);
}

function requestedWindows(
  row: ShipmentRow,
  request: UpdateShipmentRequestValid,
  fields: Pick<ShipmentRow, "pickupLat" | "pickupLng" | "dropoffLat" | "dropoffLng">,
) {
  const booked = bookedWindows(row.windows);
  const requested = windowsOf(request);
  const windowOf = (end: End) => requested[end] ?? (request.clear.includes(`${end}_window`) ? undefined : booked[end]);
  const windows = { pickup: windowOf("pickup"), dropoff: windowOf("dropoff") };
  const stays = (end: End) =>
    windows[end]?.startMs === booked[end]?.startMs && windows[end]?.endMs === booked[end]?.endMs;
  // An unchanged window is kept without validation, because its cut-off may have passed.
  const unchangedAt = (end: End) =>
    stays(end) && fields[`${end}Lat`] === row[`${end}Lat`] && fields[`${end}Lng`] === row[`${end}Lng`]
      ? { [end]: booked[end] ?? ("no window" as const) }
      : {};
  return {
    windows,
    unchanged: { ...unchangedAt("pickup"), ...unchangedAt("dropoff") },
    haveChanged: !stays("pickup") || !stays("dropoff"),
  };
}

/**
 * Asserts that the new windows of a paid shipment are paid for.
 *
 * @param currency currency of new windows. Unchanged windows were paid in the shipment's currency.
 * @throws Refusal PRICE_CHANGED if the windows cost more than was paid
 */
function assertPaidFor(
  row: ShipmentRow,
  { windows, feeMinor }: Pick<WindowsDecision, "windows" | "feeMinor">,
  { unchanged = {}, currency }: Pick<WindowsOfRoute, "unchanged"> & { readonly currency: string },
): void {
  const newFees = ENDS.map((end) => (end in unchanged ? 0 : (windows[end]?.feeMinor ?? 0)));
  const newFeeMinor = newFees.reduce((sum, fee) => sum + fee, 0);
  const isSame = currency === row.currency;
  if (newFeeMinor === 0 || (isSame && feeMinor <= row.windowFeeMinor)) return;
  const fee = `${toMajor(isSame ? feeMinor : newFeeMinor, currency)} ${currency}`;
  const paid = `${toMajor(row.windowFeeMinor, row.currency)} ${row.currency}`;
  const total = toMajor(row.totalMinor - row.windowFeeMinor + feeMinor, currency);
  throw refuse("PRICE_CHANGED", `The windows cost ${fee}, but ${paid} was paid for windows.`, {
    subject: `${ENDS[newFees.findIndex((each) => each > 0)]!}_window`,
    facts: isSame ? { total: String(total), currency } : {},
  });
}

function changedCustomer(
  row: ShipmentRow,
  request: UpdateShipmentRequestValid,
  { customer }: UpdateFacts,
): CustomerRow {
  if (request.customerId === undefined) return row.customer;
  if (customer !== null) return customer;
  throw invalidField("customer_id", "is not a customer of the workspace.");
}

function changedVerification(row: ShipmentRow, request: UpdateShipmentRequestValid) {
  const before = row.verification?.by ?? "none";
  const requested = verificationOf(request.dropoffVerification);
  const { dropoffHandover } = bookedFields(request, row);
  if (requested === undefined && dropoffHandover === row.dropoffHandover) return {};
  const required = requiredVerification(dropoffHandover, requested ?? before);
  if (required === before) return {};
  const verification = storedVerification(required);
  return { verification, progress: row.progress && withOtherVerification(row.progress) };
}

function differs(row: ShipmentRow, changes: Partial<ShipmentRow>): boolean {
  return Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(value, row[name as keyof ShipmentRow]));
}
