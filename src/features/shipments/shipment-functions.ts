import type { BatchCancelShipmentsRequestValid } from "../../../gen/shipments/v1/batch_pb.js";
import type { QuoteShipmentRequestValid } from "../../../gen/shipments/v1/quote_pb.js";
import { GetShipmentResponseSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Transaction } from "../../db/transaction.ts";
import { quote, routeOf } from "../../domain/pricing/pricing.ts";
import type { ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import { quoteEach } from "../quotes/quote-each.ts";
import { quoteWindows } from "../quotes/quote-windows.ts";
import { quoteMessage } from "../tariffs/versions/quote-message.ts";
import { byTestClock, timeOf } from "../workspaces/test-clock.ts";
import { applyTrigger, assertFrom } from "./change-shipment.ts";
import { COURIER_PLACES } from "./courier-places.ts";
import { countShipments } from "./count-shipments.ts";
import { exportShipments } from "./export-shipments.ts";
import { mayAccess, shipmentNotFoundError } from "./find-shipment.ts";
import { listPickupSlots } from "./list-pickup-slots.ts";
import { listShipments } from "./list-shipments.ts";
import { searchShipments } from "./search-shipments.ts";
import { PROOF_CHANGES, PROOF_PICTURES } from "./record-proof.ts";
import { PROGRESS_CHANGES } from "./report-progress.ts";
import { COURIER_CHANGES } from "./set-courier.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { cancelReasonOf, shipmentRecord, statusOf } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { updateShipment } from "./update-shipment.ts";

const { method } = ShipmentService;
const respond = compileResponse(GetShipmentResponseSchema);

export const SHIPMENT_FUNCTIONS = {
  countShipments,
  exportShipments,
  listPickupSlots: byTestClock(listPickupSlots),
  listShipments,
  searchShipments,
  ...PROOF_PICTURES,
  ...COURIER_PLACES,

  quoteShipment: byTestClock(quoteShipment),

  batchQuoteShipments: byTestClock(({ routes }, call, { tariffs, validateQuote, now }) => ({
    results: quoteEach(routes, call, {
      validate: validateQuote,
      quote: (route) => quoteShipment(route as QuoteShipmentRequestValid, call, { tariffs, now }),
    }),
  })),

  async getShipment({ shipment }, { caller }, { findShipment }) {
    const row = await findShipment({ workspace: caller.workspaceId, reference: shipment });
    if (!mayAccess(caller, row)) throw shipmentNotFoundError(shipment);
    return respond({ data: shipmentRecord(row, caller) });
  },
} satisfies Partial<ShipmentFunctions>;

/** RPCs that change shipments in transactions shared with other changes. */
export const SHIPMENT_CHANGES = {
  updateShipment,
  ...COURIER_CHANGES,
  ...PROGRESS_CHANGES,
  ...PROOF_CHANGES,

  advanceShipment: (request, call, { changeShipment }) =>
    changeShipment({ method: method.advanceShipment, request, call, change: advance(statusOf(request.from)) }),

  batchAdvanceShipments: (request, call, { changeBatch }) =>
    changeBatch({
      method: method.batchAdvanceShipments,
      request,
      call,
      changes: request.shipments.map((shipment) => ({
        request: { shipment },
        call,
        change: advance(statusOf(request.from)),
      })),
      pathOf: (index) => `shipments[${index}]`,
    }),

  cancelShipment: (request, call, { changeShipment, payments }) =>
    changeShipment({
      method: method.cancelShipment,
      request,
      call,
      ...cancel(request.shipment, request, call, payments),
    }),

  batchCancelShipments: (request, call, { changeBatch, payments }) =>
    changeBatch({
      method: method.batchCancelShipments,
      request,
      call,
      changes: request.shipments.map((shipment) => ({
        request: { shipment },
        call,
        ...cancel(shipment, request, call, payments),
      })),
      pathOf: (index) => `shipments[${index}]`,
    }),
} satisfies Partial<ShipmentFunctions>;

/** Prices a route with the current tariff. Makes no database calls. */
function quoteShipment(
  request: QuoteShipmentRequestValid,
  call: Pick<Call, "testTime">,
  { tariffs, now }: Pick<ShipmentDeps, "tariffs" | "now">,
) {
  const { pricing } = tariffs.current();
  const route = routeOf(request);
  const quoted = quote(pricing, route);
  const priced = quoteWindows(pricing, { quoted, route, request }, timeOf(call, now).getTime());
  return quoteMessage(priced.quote, priced.windows);
}

/** @param from expected status, `undefined` for any */
function advance(from?: ShipmentStatus) {
  return (row: ShipmentRow, _facts: unknown, at: Date) => {
    assertFrom(row, from);
    return { row: applyTrigger(row, "advance", at) };
  };
}

/** Returns the change that cancels a shipment. */
export function cancel(
  reference: string,
  { reason, note }: Pick<BatchCancelShipmentsRequestValid, "reason" | "note">,
  call: Call,
  payments: ShipmentDeps["payments"],
) {
  return {
    change(row: ShipmentRow, _facts: unknown, at: Date) {
      const cancelled = {
        ...applyTrigger(row, "cancel", at),
        cancelReason: cancelReasonOf(reason) ?? null,
        cancelNote: note ?? null,
      };
      return { row: cancelled, made: { isAtProvider: row.paymentDetails !== null } };
    },
    /** Schedules a poll if the payment is at a provider. The poll refunds the payment or expires the checkout. */
    write(tx: Transaction, { isAtProvider }: { readonly isAtProvider: boolean }): void {
      if (isAtProvider) payments.schedulePoll(tx, { workspace: call.caller.workspaceId, reference });
    },
  };
}
