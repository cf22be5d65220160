import { useEffect, useMemo, useState } from "preact/hooks";
import { isSameText } from "./draft-fields.ts";
import { Button } from "../ui/button.tsx";

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
