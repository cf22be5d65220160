import { ErrorNote } from "../inputs/error-note.tsx";
import type { Details } from "../run/acts.ts";
import type { Shipment } from "../run/shipment.ts";
import { useApp } from "./state.ts";

const MAX_NOTE = 500;

export interface FormProps {
  readonly shipments: readonly [Shipment, ...Shipment[]];
  /** Label of the button that records the act. */
  readonly label: string;
  readonly onRecord: (details: Details) => void;
}

export function NoteField({ isRequired }: { readonly isRequired: boolean }) {
  const { t } = useApp();
  return (
    <label class="field">
      <span class="label">
        {t.note} {!isRequired && <small>({t.optional})</small>}
      </span>
      <textarea name="note" rows={2} maxLength={MAX_NOTE} />
    </label>
  );
}

/** The message about a missing entry, and the button that records the act. */
export function SubmitPart(props: { readonly missing: string | false | undefined; readonly label: string }) {
  return (
    <>
      <ErrorNote text={props.missing} />
      <button class="primary">{props.label}</button>
    </>
  );
}

/** Returns the entries that have text. */
export function withText<T extends object>(entries: T): Partial<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, text]) => text)) as Partial<T>;
}
