import { create } from "@bufbuild/protobuf";
import { LockMode } from "@mikro-orm/postgresql";
import {
  CancelShipmentResponseSchema,
  type CancelShipmentRequestValid,
  type CancelShipmentResponse,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { refuse } from "../domain/refusal.ts";
import { transition } from "../domain/shipment-state.ts";
import type { Call } from "../rpc/caller.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { Shipment } from "./shipment.entity.ts";

/**
 * Cancels a shipment while it is pending or awaits pickup. The row is locked, so that of a cancel
 * and another change at the same time each sees what the other left.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, alike for an unknown shipment and one of another workspace;
 * SHIPMENT_NOT_CANCELLABLE
 */
export async function cancelShipment(
  request: CancelShipmentRequestValid,
  call: Call,
  { em, now }: { em: EntityManager; now: () => Date },
): Promise<CancelShipmentResponse> {
  const shipment = await em.fork().transactional(async (tx) => {
    const found = await tx.findOne(
      Shipment,
      { workspace: call.caller.workspaceId, reference: request.shipment },
      { lockMode: LockMode.PESSIMISTIC_WRITE, populate: ["customer"] },
    );
    if (found === null) throw refuse("SHIPMENT_NOT_FOUND", "There is no such shipment.");
    const { next, refusal } = transition("cancel", found);
    if (next === undefined) {
      throw refuse("SHIPMENT_NOT_CANCELLABLE", refusal, { subject: "shipment" });
    }
    const cancelledAt = now();
    return tx.assign(found, { ...next, cancelledAt, updatedAt: cancelledAt });
  });
  return create(CancelShipmentResponseSchema, { data: shipmentMessage(shipment) });
}
