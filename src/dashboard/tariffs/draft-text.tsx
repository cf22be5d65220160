import { useEffect, useMemo, useState, useCallback, useLayoutEffect } from "preact/hooks";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { useCall } from "../api/clients.ts";
import { isSameText, type LoadedDraft } from "./draft-fields.ts";
import { Button } from "../ui/button.tsx";
import { guardLeaving, type Leave } from "../routes/router.ts";
import { Dialog, openDialog } from "../ui/dialog.tsx";

/** Loads a draft and its schedules, again if the draft changes in the meantime. */
export async function loadDraft(
  call: ReturnType<typeof useCall>,
  draft: bigint,
  signal?: AbortSignal,
): Promise<LoadedDraft> {
  const options = signal && { signal };
  const [one, other] = await Promise.all([
    call(TariffService.method.getTariffDraft, { draft }, options),
    call(TariffService.method.getTariffDraftSchedules, { draft }, options),
  ]);
  const { etag } = other;
  return one.data!.etag === etag ? { draft: one.data!, schedules: other.data!, etag } : loadDraft(call, draft, signal);
}

/**
 * Tracks the typed contents of a draft form and their initial value. Newly loaded contents replace
 * both, unless the user and another person have each made changes.
 */
export function useDraftText<Loaded extends { readonly etag: string }, Text extends object>(
  loaded: Loaded,
  textOf: (loaded: Loaded) => Text,
) {
  const [base, setBase] = useState(loaded);
  const [text, setText] = useState(() => textOf(loaded));
  const before = useMemo(() => textOf(base), [base]);
  const isEdited = !isSameText(text, before);
  const isOther = loaded.etag !== base.etag && !isSameText(textOf(loaded), before);
  const discardEdits = () => {
    setBase(loaded);
    setText(textOf(loaded));
  };
  const keepEdits = () => setBase(loaded);
  useEffect(() => {
    if (loaded.etag === base.etag || (isEdited && isOther)) return;
    if (isOther) discardEdits();
    else keepEdits();
  }, [loaded]);
  return {
    base,
    text,
    setText,
    isEdited,
    /** Whether the user and another person both changed it. Resolve with `discardEdits` or `keepEdits`. */
    isForeign: isEdited && isOther,
    discardEdits,
    keepEdits,
    /** Sets the initial value to the saved contents. Edits made since and the rows' keys are kept. */
    noteSaved(saved: Loaded, sent: Text): void {
      setBase(saved);
      const savedText = textOf(saved);
      if (!isSameText(sent, savedText)) setText((typed) => (typed === sent ? savedText : typed));
    },
  };
}

/** Reports that another person has changed the draft since editing began. */
export function ForeignNote(props: { readonly discardEdits: () => void; readonly keepEdits: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>Someone else has changed this draft.</p>
      <div class="actions">
        <Button onClick={props.discardEdits}>Discard my changes</Button>
        <Button onClick={props.keepEdits}>Keep my changes</Button>
      </div>
    </div>
  );
}

interface UnsavedForm {
  readonly id: string;
  readonly submit: string;
  readonly isRunning: boolean;
}

/** Called by a draft form when it gets unsaved changes, and with `undefined` when they are gone. */
export type NoteUnsaved = (id: string, form: UnsavedForm | undefined) => void;

/** Tracks the forms with unsaved changes, in order. While there are any, leaving needs confirmation. */
export function useUnsaved(): readonly [forms: readonly UnsavedForm[], note: NoteUnsaved] {
  const [forms, setForms] = useState<readonly UnsavedForm[]>([]);
  const note = useCallback<NoteUnsaved>((id, form) => {
    setForms((before) => {
      const others = before.filter((other) => other.id !== id);
      return form === undefined ? others : [...others, form];
    });
  }, []);
  const isUnsaved = forms.length > 0;
  // Use a layout effect, because the cleanup of other effects runs shortly after unmounting.
  useLayoutEffect(
    () => (isUnsaved ? guardLeaving((leave) => openDialog(<LeaveDialog leave={leave} />)) : undefined),
    [isUnsaved],
  );
  return [forms, note];
}

export function useNoteUnsaved(note: NoteUnsaved, { id, submit, isRunning }: UnsavedForm, isEdited: boolean): void {
  useEffect(() => {
    note(id, isEdited ? { id, submit, isRunning } : undefined);
    return () => note(id, undefined);
  }, [note, id, submit, isRunning, isEdited]);
}

function LeaveDialog({ leave }: { readonly leave: Leave }) {
  return (
    <Dialog
      title="Leave without saving?"
      submit="Leave without saving"
      dismiss="Stay"
      tone="danger"
      run={async () => leave()}
    >
      <p>Your unsaved changes will be lost.</p>
    </Dialog>
  );
}
