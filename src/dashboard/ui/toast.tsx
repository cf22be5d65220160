import { Code } from "@connectrpc/connect";
import { useEffect, useRef, useState } from "preact/hooks";
import { problemOf } from "../api/problem.ts";
import { createStore, useStore } from "../api/store.ts";
import { reloadAll } from "../api/use-action.ts";
import { useKeys } from "./use-keys.ts";
import "./dialog.css";

const SHOWN_MS = 5_000;
/** Display time of a toast with an undo, in milliseconds. Longer, because the user must decide. */
const UNDO_MS = 12_000;

interface Message {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => unknown) | undefined;
}

const message = createStore<Message | undefined>(undefined);
let lastId = 0;

/**
 * Shows a message for a few seconds and announces it to screen readers. Replaces the previous message.
 *
 * @param undo reverts the action, by a button and the key `z`; errors are shown
 */
export function toast(text: string, undo?: () => unknown): void {
  const shown = { id: ++lastId, text, undo };
  message.set(shown);
  const end = () => message.get() === shown && message.set(undefined);
  setTimeout(end, undo ? UNDO_MS : SHOWN_MS);
}

/** Runs an action whose menu has closed. Reports success or the error in a toast. */
export async function attempt(work: () => unknown, done?: string, undo?: () => unknown): Promise<void> {
  try {
    await work();
    reloadAll();
    if (done !== undefined) toast(done, undo);
  } catch (error) {
    toast(problemOf(error).message);
  }
}

/**
 * Tracks whether a form is still shown, because the user can close its dialog or leave its page before its action ends.
 * `noteError` throws the given error again. If the form is no longer shown, it also reports the error in a toast, unless
 * the session has expired.
 *
 * @param title name of the action in the toast
 */
export function useShown(title: string) {
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const noteError = (error: unknown): never => {
    const { code, message: text } = problemOf(error);
    if (!isShown.current && code !== Code.Unauthenticated) toast(`${title}: ${text}`);
    throw error;
  };
  return { isShown, noteError };
}

function revert(undo: () => unknown): Promise<void> {
  message.set(undefined);
  return attempt(undo);
}

/** Mounted `Toasts` components, with the topmost last. */
const outlets = createStore<readonly object[]>([]);

/** Shows toasts. Each open dialog needs its own, because screen readers ignore the page behind it. */
export function Toasts() {
  const [outlet] = useState(() => ({}));
  const isUppermost = useStore(outlets).at(-1) === outlet;
  const shown = useStore(message);
  const undo = shown?.undo;
  useEffect(() => {
    outlets.set([...outlets.get(), outlet]);
    return () => outlets.set(outlets.get().filter((other) => other !== outlet));
  }, []);
  useKeys(undo && isUppermost ? { z: () => void revert(undo) } : {});
  return (
    <div class="toasts" role="status" aria-live="polite">
      {isUppermost && shown && (
        <p key={shown.id}>
          {shown.text}
          {undo && (
            <button type="button" class="button" onClick={() => void revert(undo)}>
              Undo
            </button>
          )}
        </p>
      )}
    </div>
  );
}
