import { create } from "@bufbuild/protobuf";
import {
  AcceptUncountedPaymentResponseSchema,
  ShipmentService,
  type AcceptUncountedPaymentRequestValid,
  type AcceptUncountedPaymentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ShipmentDeps } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import { withoutUncounted } from "./stored-payment.ts";

const SELECT_VERSION = `
  select version from provider_payment where workspace_id = $1 and shipment_reference = $2`;

/**
 * Accepts money that does not count as it is, also where it is not known whether any was taken: nothing is to
 * be done about it any more. The shipment is as much paid as before.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (there is none)
 */
export function acceptUncountedPayment(
  request: AcceptUncountedPaymentRequestValid,
  call: Call,
  { changeShipment }: Pick<ShipmentDeps, "changeShipment">,
): Promise<AcceptUncountedPaymentResponse> {
  const { workspaceId } = call.caller;
  return changeShipment({
    method: ShipmentService.method.acceptUncountedPayment,
    request,
    call,
    load: async (tx) =>
      (await tx.send<{ version: number }>(SELECT_VERSION, [workspaceId, request.shipment]))[0],
    change(row, checkout, at) {
      const { paymentDetails } = row;
      const accepted = paymentDetails?.uncounted ?? paymentDetails?.unseen;
      if (paymentDetails === null || accepted === undefined) {
        const text = "The shipment has no money that does not count.";
        throw refuse("SHIPMENT_STATE", text, { subject: "shipment" });
      }
      const details = { ...withoutUncounted(paymentDetails), accepted };
      // What is told of a later checkout stays.
      const told = accepted === checkout?.version ? { processing: false, error: null } : {};
      return { row: { ...row, paymentDetails: { ...details, ...told }, updatedAt: at } };
    },
    respond: (row) =>
      create(AcceptUncountedPaymentResponseSchema, { data: shipmentMessage(row, call.caller) }),
  });
}
