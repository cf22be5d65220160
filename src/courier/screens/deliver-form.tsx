import { useEffect, useState } from "preact/hooks";
import { PhotoField } from "../inputs/photo-field.tsx";
import { PinPad } from "../inputs/pin-pad.tsx";
import { SignatureField } from "../inputs/signature-field.tsx";
import type { Details } from "../run/acts.ts";
import { requiredProof } from "../run/shipment.ts";
import { type FormProps, NoteField, SubmitPart, withText } from "./form-parts.tsx";
import { useApp } from "./state.ts";

const MAX_NAME = 200;
const PIN = /^\d{4}$/;

/** The proof of a delivery: the required one, and the recipient's name, a photo and a note if wanted. */
export function DeliverForm({ shipments: [shipment], label, onRecord }: FormProps) {
  const { t } = useApp();
  const required = requiredProof(shipment);
  const [pin, setPin] = useState("");
  const [photo, setPhoto] = useState<string>();
  const [signature, setSignature] = useState<string>();
  const [missing, setMissing] = useState<string>();
  useEffect(() => setMissing(undefined), [pin, photo, signature]);
  const record = (event: SubmitEvent) => {
    event.preventDefault();
    const entries = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Details;
    const isGiven = { none: true, pin: PIN.test(pin), photo: photo !== undefined, signature: signature !== undefined };
    if (required !== "none" && !isGiven[required]) return setMissing(t.missing[required]);
    onRecord({
      ...withText({ received_by: entries.received_by?.trim(), note: entries.note?.trim() }),
      ...(required === "pin" && { pin }),
      ...(photo !== undefined && { photo }),
      ...(signature !== undefined && { signature }),
    });
  };
  return (
    <form onSubmit={record}>
      {shipment.dropoff_handover === "leave_at_door" && <p class="instructions">{t.leaveAtDoor}</p>}
      {required === "pin" && <PinPad t={t} pin={pin} onEnter={setPin} />}
      {required === "signature" && <SignatureField t={t} onSign={setSignature} />}
      <PhotoField t={t} photo={photo} isRequired={required === "photo"} onTake={setPhoto} />
      <label class="field">
        <span class="label">
          {t.receivedBy} <small>({t.optional})</small>
        </span>
        <input name="received_by" maxLength={MAX_NAME} autocomplete="off" />
      </label>
      <NoteField isRequired={false} />
      <SubmitPart {...{ missing, label }} />
    </form>
  );
}
