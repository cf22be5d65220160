import { create } from "@bufbuild/protobuf";
import {
  GetShipmentRequestSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import type { ChangeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { KnownPayment } from "./apply-found.ts";
import { keepLearnt, LeaseLost, type LeasedPayment, type Learnt } from "./provider-payments.ts";
import { writePayment } from "./stored-payment.ts";

/** What applying to shipments needs. */
export interface ApplyDeps {
  readonly changeShipment: ChangeShipment;
  /** A call of the service itself in a workspace, or in a test twin. */
  readonly callIn: (workspace: number, test: boolean) => Call;
}

/** A shipment that something was applied to. */
export interface Applied {
  readonly row: ShipmentRow;
  /** The attempt at a refund that counts now. */
  readonly refundAttempt: number;
}

/** What a look has learnt, and what that makes of the shipment. */
export interface ToApply extends Partial<Learnt> {
  /** Whether the shipment is one of a test twin. */
  readonly test: boolean;
  apply(row: ShipmentRow, known: KnownPayment, at: Date): ShipmentRow;
}

/**
 * Applies what a look has learnt, and keeps it in the same transaction: a checkout that is closed here is
 * one of which the shipment knows what became. Nothing is done once the lease is lost: what another has
 * found is newer.
 *
 * @throws LeaseLost
 */
export async function applyToShipment(
  { changeShipment, callIn }: ApplyDeps,
  leased: LeasedPayment,
  worker: string,
  { apply, test, ...learnt }: ToApply,
): Promise<Applied> {
  const { workspace, shipment, provider } = leased;
  let applied: Applied | undefined;
  await changeShipment({
    method: ShipmentService.method.getShipment,
    request: create(GetShipmentRequestSchema, { shipment }),
    call: callIn(workspace, test),
    load: (tx) => keepLearnt(tx, leased, worker, learnt),
    change(before, kept, at) {
      if (kept === undefined) return { row: before, made: undefined };
      const row = apply(before, { ...leased, ...kept }, at);
      return { row, made: { at, before, row, refundAttempt: kept.refundAttempt } };
    },
    write(tx, made) {
      writePayment(tx, { workspace, reference: shipment }, provider, made!);
    },
    // The last of what may be several transactions is the one that is committed.
    respond(_, made) {
      applied = made;
      return {};
    },
  });
  if (applied === undefined) throw new LeaseLost();
  return applied;
}
