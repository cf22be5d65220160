import { useEffect, useState } from "preact/hooks";
import { createStore, useStore } from "../api/store.ts";
import "./dialog.css";

const SHOWN_MS = 5_000;

const messages = createStore<readonly { readonly id: number; readonly text: string }[]>([]);
let lastId = 0;

/** Says for a few seconds that something was done, to screen readers too. */
export function toast(text: string): void {
  const id = ++lastId;
  messages.set([...messages.get(), { id, text }]);
  setTimeout(() => messages.set(messages.get().filter((message) => message.id !== id)), SHOWN_MS);
}

/** Mounted `Toasts`, the uppermost last. */
const outlets = createStore<readonly object[]>([]);

/**
 * Where the messages of `toast` appear: in the app, and in each dialog, as screen readers do not see
 * what is outside of an open one.
 */
export function Toasts() {
  const [outlet] = useState(() => ({}));
  const isUppermost = useStore(outlets).at(-1) === outlet;
  const shown = useStore(messages);
  useEffect(() => {
    outlets.set([...outlets.get(), outlet]);
    return () => outlets.set(outlets.get().filter((other) => other !== outlet));
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {isUppermost && shown.map(({ id, text }) => <p key={id}>{text}</p>)}
    </div>
  );
}
