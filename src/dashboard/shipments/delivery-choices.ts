import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { DropoffHandover, UndeliverableAction } from "../../../gen/shipments/v1/shipment_pb.js";

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
