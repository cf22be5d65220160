import { createStore, useStore } from "../api/store.ts";

/** How long a message stays, in milliseconds. */
const SHOWN_MS = 5_000;

const messages = createStore<readonly { readonly id: number; readonly text: string }[]>([]);
let lastId = 0;

/** Says for a few seconds that something was done, to screen readers too. */
export function toast(text: string): void {
  const id = ++lastId;
  messages.set([...messages.get(), { id, text }]);
  setTimeout(() => messages.set(messages.get().filter((it) => it.id !== id)), SHOWN_MS);
}

/** Where the messages of `toast` appear; once in the app. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(messages).map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
