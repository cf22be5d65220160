import { AttemptReason, DeliveryStage, DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { DropoffHandover, UndeliverableAction } from "../../../gen/shipments/v1/shipment_pb.js";

export const STAGES: Readonly<Record<DeliveryStage, string | undefined>> = {
  [DeliveryStage.UNSPECIFIED]: undefined,
  [DeliveryStage.ASSIGNED]: "On the way",
  [DeliveryStage.AT_PICKUP]: "At pickup",
  [DeliveryStage.AT_DROPOFF]: "At dropoff",
};

export const ATTEMPT_REASONS: Readonly<Record<AttemptReason, string>> = {
  [AttemptReason.UNSPECIFIED]: "Choose a reason",
  [AttemptReason.NOBODY_THERE]: "No one there",
  [AttemptReason.REFUSED]: "Not handed over or not accepted",
  [AttemptReason.WRONG_ADDRESS]: "Problem with the address",
  [AttemptReason.DAMAGED]: "Damaged",
  [AttemptReason.OTHER]: "Another reason",
};

export const VERIFICATIONS: Readonly<Record<DropoffVerification, string>> = {
  [DropoffVerification.UNSPECIFIED]: "",
  [DropoffVerification.NONE]: "Nothing",
  [DropoffVerification.PIN]: "The recipient’s PIN",
  [DropoffVerification.PHOTO]: "A photo",
  [DropoffVerification.SIGNATURE]: "A signature",
};

export const HANDOVERS: Readonly<Record<DropoffHandover, string>> = {
  [DropoffHandover.UNSPECIFIED]: "",
  [DropoffHandover.MEET]: "To a person",
  [DropoffHandover.LEAVE_AT_DOOR]: "Leave at the door",
};

export const UNDELIVERABLE_ACTIONS: Readonly<Record<UndeliverableAction, string>> = {
  [UndeliverableAction.UNSPECIFIED]: "",
  [UndeliverableAction.RETURN]: "Return to the sender",
  [UndeliverableAction.DISPOSE]: "Dispose of it",
};
