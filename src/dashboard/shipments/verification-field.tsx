import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { choicesOf, SelectField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";

export const VERIFICATIONS: Readonly<Record<DropoffVerification, string>> = {
  [DropoffVerification.UNSPECIFIED]: "",
  [DropoffVerification.NONE]: "Nothing",
  [DropoffVerification.PIN]: "The recipient’s PIN",
  [DropoffVerification.PHOTO]: "A photo",
  [DropoffVerification.SIGNATURE]: "A signature",
};

const FIELD = "dropoff_verification";

export function VerificationField({ from }: { readonly from?: Shipment | undefined }) {
  return (
    <SelectField
      name={FIELD}
      label="Required at the door"
      hint="Before the shipment can be marked as delivered"
      value={from?.dropoffVerification ?? DropoffVerification.NONE}
      choices={choicesOf(VERIFICATIONS).slice(1)}
    />
  );
}

export function verificationOf(form: FormData): DropoffVerification {
  return Number(textOf(form, FIELD));
}
