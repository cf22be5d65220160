import { create } from "@bufbuild/protobuf";
import { CancelReason } from "../../../gen/shipments/v1/shipment_pb.js";
import { CancelShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Span } from "../../domain/schedule/calendar.ts";
import { toMilligrams } from "../../domain/schedule/slot-load.ts";
import type { CallIn } from "../../pipeline/call.ts";
import { slotId, type SlotKey, type SlotPlace, type Slots } from "../slots/slots.ts";
import type { ChangeShipment } from "./change-shipment.ts";
import type { PaymentsOfShipments } from "./provider-check.ts";
import { cancel } from "./shipment-functions.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { slotsOf } from "./slot-places.ts";

export interface ReclaimDeps {
  readonly em: EntityManager;
  readonly slots: Slots;
  readonly changeShipment: ChangeShipment;
  readonly callIn: CallIn;
  readonly payments: PaymentsOfShipments;
}

const POLL_MS = 1_000;
const CONCURRENCY = 8;

const FIND_DUE = `
  select slot_id || ' ' || holder as reference, slot_reservation.workspace_id::float8 as workspace, holder,
    slot_reservation.reference as shipment, slot_reservation.milligrams::float8 as milligrams, attempt,
    coalesce(pay_by <= now(), false) as "isOverdue", slot.schedule, slot.twin_id::float8 as "twinId",
    (extract(epoch from starts_at) * 1000)::float8 as "startMs",
    (extract(epoch from ends_at) * 1000)::float8 as "endMs"
  from slot_reservation join slot on slot.id = slot_id
  where check_at <= now()
  order by check_at limit ${CONCURRENCY}`;

interface DueReservation extends WorkItem, Span, Pick<SlotKey, "schedule" | "twinId"> {
  readonly holder: string;
  readonly shipment: string | null;
  readonly milligrams: number;
  readonly attempt: string;
  /** Whether the time to pay is over. */
  readonly isOverdue: boolean;
}

/**
 * Selects the shipments that may have the place: the shipment that reserved it last, and the shipment that was booked
 * with the quote.
 */
const SHIPMENTS = `
  select reference, status, windows, weight_kg as "weightKg",
    coalesce((payment_details ->> 'processing')::boolean, false) as "isProcessing"
  from shipment
  where workspace_id = $1 and (reference = $2 or reference = (
    select reference from used_quote where workspace_id = $1 and quote_id = $3))`;

type FoundShipment = Pick<ShipmentRow, "reference" | "status" | "windows" | "weightKg"> & {
  readonly isProcessing: boolean;
};

/**
 * Creates the queue that compares due reservations with their shipments. Releases places without a shipment, such as
 * those of expired quotes and failed bookings. Confirms the others, and cancels shipments that were not paid in time.
 * Idempotent, because two processes may compare the same reservation.
 */
export function createReclaimQueue(deps: ReclaimDeps): LeasedQueue<DueReservation> {
  const { em, slots } = deps;
  return {
    name: "slot_reservations",
    outcomes: ["confirmed", "released", "cancelled", "postponed"],
    pollMs: POLL_MS,
    concurrency: { total: CONCURRENCY, perWorkspace: CONCURRENCY },
    find: () => runStatement<DueReservation>(em, FIND_DUE),
    async work(due) {
      const { workspace, shipment, holder, attempt, twinId } = due;
      const quoteId = holder === shipment ? null : holder;
      const place: SlotPlace = { slot: due, workspace, reference: shipment, quoteId, attempt };
      const found = await runStatement<FoundShipment>(em, SHIPMENTS, [workspace, shipment, quoteId]);
      const caller = { workspaceId: workspace, test: twinId !== null };
      const own = found.find((row) => slotsOf(row, caller).some((slot) => slotId(slot) === slotId(due)));
      if (own === undefined) {
        await slots.settle([], [place]);
        return "released";
      }
      if (due.isOverdue && own.status === "pending") {
        if (own.isProcessing) await slots.postpone(place);
        else await cancelUnpaid(deps, caller, own.reference);
        return own.isProcessing ? "postponed" : "cancelled";
      }
      const milligrams = toMilligrams(own.weightKg);
      // The place was reserved for a change of weight that was not committed.
      if (milligrams !== due.milligrams) await slots.correct(place, due.milligrams, milligrams);
      await slots.settle([{ ...place, reference: own.reference, isPaid: own.status !== "pending" }], []);
      return "confirmed";
    },
  };
}

async function cancelUnpaid(
  { changeShipment, callIn, payments }: ReclaimDeps,
  { workspaceId, test }: { readonly workspaceId: number; readonly test: boolean },
  shipment: string,
): Promise<void> {
  const call = await callIn(workspaceId, test);
  const reason = { reason: CancelReason.PAYMENT_PROBLEM, note: "Not paid in time." };
  const cancelling = cancel(shipment, reason, call, payments);
  await changeShipment({
    method: ShipmentService.method.cancelShipment,
    request: create(CancelShipmentRequestSchema, { shipment }),
    call,
    change: (row, facts, at) => {
      const isUnpaid = row.status === "pending" && !row.paymentDetails?.processing;
      return isUnpaid ? cancelling.change(row, facts, at) : { row, made: { isAtProvider: false } };
    },
    write: cancelling.write,
  });
}
