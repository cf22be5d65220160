import { useState } from "preact/hooks";
import { PhotoField } from "../inputs/photo-field.tsx";
import type { Details } from "../run/acts.ts";
import { ATTEMPT_REASONS } from "../run/shipment.ts";
import { type FormProps, NoteField, SubmitPart, withText } from "./form-parts.tsx";
import { useApp } from "./state.ts";

/** The reason why a pickup or delivery failed. */
export function FailForm({ label, onRecord }: FormProps) {
  const { t } = useApp();
  const [reason, setReason] = useState<Details["reason"]>();
  const [photo, setPhoto] = useState<string>();
  const [missing, setMissing] = useState<string>();
  const record = (event: SubmitEvent) => {
    event.preventDefault();
    const { note = "" } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Details;
    if (reason === undefined) return setMissing(t.missing.reason);
    if (reason === "other" && note.trim() === "") return setMissing(t.missing.note);
    onRecord({ reason, ...withText({ note: note.trim() }), ...(photo !== undefined && { photo }) });
  };
  return (
    <form onSubmit={record} onInput={() => setMissing(undefined)}>
      <fieldset>
        <legend class="label">{t.reason}</legend>
        {ATTEMPT_REASONS.map((it) => (
          <label class="check">
            <input type="radio" name="reason" checked={reason === it} onChange={() => setReason(it)} />
            {t.reasons[it]}
          </label>
        ))}
      </fieldset>
      <NoteField isRequired={reason === "other"} />
      <PhotoField t={t} photo={photo} isRequired={false} onTake={setPhoto} />
      <SubmitPart {...{ missing, label }} />
    </form>
  );
}
