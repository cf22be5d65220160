import { useEffect, useMemo, useState, useCallback, useLayoutEffect } from "preact/hooks";
import { isSameText } from "./draft-fields.ts";
import { Button } from "../ui/button.tsx";
import { guardLeaving, type Leave } from "../routes/router.ts";
import { Dialog, openDialog } from "../ui/dialog.tsx";

/**
 * What is typed into a form of a draft, and what it began with. What is loaded later takes their place, unless
 * both somebody else and the reader changed what it says.
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
  const take = () => {
    setBase(loaded);
    setText(textOf(loaded));
  };
  const keep = () => setBase(loaded);
  useEffect(() => {
    if (loaded.etag === base.etag || (isEdited && isOther)) return;
    if (isOther) take();
    else keep();
  }, [loaded]);
  return {
    base,
    text,
    setText,
    isEdited,
    /** Whether both somebody else and the reader changed it: then one of `take` and `keep` is to be chosen. */
    isForeign: isEdited && isOther,
    take,
    keep,
    /** Begins with what was saved. What was typed since it was sent stays, and so do rows that are as they were sent. */
    noteSaved(saved: Loaded, sent: Text): void {
      setBase(saved);
      const savedText = textOf(saved);
      if (!isSameText(sent, savedText)) setText((typed) => (typed === sent ? savedText : typed));
    },
  };
}

/** Somebody else has changed the draft since the reader began to. */
export function ForeignNote(props: {
  /** What was changed, such as `these fees`. */
  readonly what: string;
  readonly take: () => void;
  readonly keep: () => void;
}) {
  return (
    <div class="problem" role="alert">
      <p>Somebody else has changed {props.what} meanwhile.</p>
      <div class="actions">
        <Button onClick={props.take}>Show theirs, and drop mine</Button>
        <Button onClick={props.keep}>Go on with mine</Button>
      </div>
    </div>
  );
}

interface UnsavedForm {
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
  // Stop asking once unmounted: other effects end a little later.
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
