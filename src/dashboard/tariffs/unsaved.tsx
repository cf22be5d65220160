import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { guardLeaving, type Leave } from "../routes/router.ts";
import { Dialog, openDialog } from "../ui/dialog.tsx";

export interface UnsavedForm {
  readonly id: string;
  readonly submit: string;
  readonly isRunning: boolean;
}

/** Called by a form of a draft when it has changes that are not saved, and when it has none any more. */
export type NoteUnsaved = (id: string, form: UnsavedForm | undefined) => void;

/**
 * The forms of a page with changes that are not saved, in the order in which they were changed. As long as there are
 * any, the reader is asked before they leave the page.
 */
export function useUnsaved(): readonly [forms: readonly UnsavedForm[], note: NoteUnsaved] {
  const [forms, setForms] = useState<readonly UnsavedForm[]>([]);
  const note = useCallback<NoteUnsaved>((id, form) => {
    setForms((before) => {
      const others = before.filter((other) => other.id !== id);
      return form === undefined ? others : [...others, form];
    });
  }, []);
  const isUnsaved = forms.length > 0;
  // A page that is gone asks nobody: other effects end a little after it.
  useLayoutEffect(
    () =>
      isUnsaved ? guardLeaving((leave) => openDialog(<LeaveDialog leave={leave} />)) : undefined,
    [isUnsaved],
  );
  return [forms, note];
}

export function useNoteUnsaved(
  note: NoteUnsaved,
  { id, submit, isRunning }: UnsavedForm,
  isEdited: boolean,
): void {
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
      <p>What you changed and did not save is lost then.</p>
    </Dialog>
  );
}
