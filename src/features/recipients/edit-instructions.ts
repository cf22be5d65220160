import { create, type Message } from "@bufbuild/protobuf";
import { ShipmentService, UpdateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { Refusal } from "../../domain/refusal.ts";
import { type EditResult, mayRecipientEdit } from "../../domain/shipment/delivery-details.ts";
import { stateError } from "../../domain/shipment/shipment-state.ts";
import type { CallIn } from "../../pipeline/call.ts";
import { CHANGE_INSTRUCTIONS } from "../audit/record-change.ts";
import type { ChangeShipment } from "../shipments/change-shipment.ts";
import { openLinked, type OpenDeps, type OpenedLink, type RecipientProof } from "./open-tracking.ts";

export interface EditDeps extends OpenDeps {
  readonly changeShipment: ChangeShipment;
  readonly callIn: CallIn;
  /**
   * Normalizes and validates an update of a shipment.
   *
   * @throws Refusal FIELD_INVALID
   */
  readonly validateUpdate: (request: Message) => void;
}

/**
 * Changes the dropoff instructions for the verified recipient. Returns the opened page after the change, without a
 * result if the recipient is not verified, or `undefined` for an invalid link.
 */
export async function editInstructions(
  { link, recipientMac }: RecipientProof,
  text: string,
  deps: EditDeps,
): Promise<OpenedLink | undefined> {
  // Without a MAC, `openLinked` would compare digits and use up an attempt.
  const proof = { link, digits: "", recipientMac: recipientMac || "none" };
  const linked = await openLinked(proof, deps);
  if (linked?.opened === undefined) return linked;
  const result = await changeInstructions(linked.shipment, text, deps);
  const changed = await openLinked(proof, deps);
  return changed && { ...changed, result };
}

async function changeInstructions(
  { workspace, tracked }: OpenedLink["shipment"],
  text: string,
  { changeShipment, callIn, validateUpdate }: EditDeps,
): Promise<EditResult> {
  const { reference: shipment } = tracked;
  const request = create(UpdateShipmentRequestSchema, {
    shipment,
    dropoffInstructions: text.replaceAll("\r\n", "\n"),
  });
  const call = { ...(await callIn(workspace.id, workspace.test)), method: CHANGE_INSTRUCTIONS };
  try {
    validateUpdate(request);
    const dropoffInstructions = request.dropoffInstructions || null;
    await changeShipment({
      method: ShipmentService.method.updateShipment,
      request,
      call,
      change(row, _facts, at) {
        if (row.dropoffInstructions === dropoffInstructions) return { row };
        if (!mayRecipientEdit(row)) throw stateError("The instructions can no longer be changed.");
        return { row: { ...row, dropoffInstructions, recipientEdits: row.recipientEdits + 1, updatedAt: at } };
      },
      // The instructions are personal data, which the audit log must not keep.
      audited: ({ recipientEdits }) => ({ recipient_edits: recipientEdits }),
    });
    return "saved";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.reason === "FIELD_INVALID") return "invalid";
    if (error.reason === "SHIPMENT_STATE") return "closed";
    throw error;
  }
}
