import { useLayoutEffect, useRef } from "preact/hooks";
import { createStore } from "../api/store.ts";

/** Actions by key, such as `j`, or by `g` and a key, such as `g s`. Returning false leaves the key to the browser. */
export type Keys = Readonly<Record<string, () => unknown>>;

/** Selector for elements that handle these keys themselves. Checkboxes and radio buttons take no text. */
const OWN_KEYS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [data-own-keys]";

const STORED_AS = "character-keys";

/** Whether single-character shortcuts are enabled in this browser. WCAG 2.1.4 requires a way to turn them off. */
export const characterKeys = createStore(localStorage.getItem(STORED_AS) !== "off");
characterKeys.subscribe(() => localStorage.setItem(STORED_AS, characterKeys.get() ? "on" : "off"));

/** Maximum time between the keys of a sequence, in milliseconds. */
const SEQUENCE_MS = 1_500;

/** The last key, or `g` and the key after it. */
let pressed = "";
/** Time at which `g` was pressed, in milliseconds. */
let begunAtMs = -Infinity;
document.addEventListener(
  "keydown",
  (event) => {
    const { key, timeStamp, target } = event;
    if (event.repeat) return;
    const isOwn = target instanceof Element && target.closest(OWN_KEYS) !== null;
    const isPart = key.length === 1 && characterKeys.get() && !isOwn && !hasModifier(event);
    pressed = isPart && timeStamp - begunAtMs < SEQUENCE_MS ? `g ${key}` : key;
    begunAtMs = isPart && key === "g" ? timeStamp : -Infinity;
  },
  true,
);

function hasModifier({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey;
}

/** Binds keys while the page is shown, except in text inputs and behind a dialog. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Runs before painting, because a key may be pressed as soon as the page is visible.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (hasModifier(event) || event.defaultPrevented) return;
      if (event.key.length === 1 && !characterKeys.get()) return;
      if (event.target instanceof Element) {
        const own = event.target.closest(OWN_KEYS);
        if (own && !(event.key === "Escape" && own.matches("[data-own-keys]"))) return;
        if (event.target.matches("[type=radio]") && event.key.startsWith("Arrow")) return;
        if (event.target.closest("input, button, summary") && event.key === " ") return;
      }
      if (document.querySelector("dialog[open]") !== null) return;
      if (!Object.hasOwn(latest.current, pressed)) return;
      if (latest.current[pressed]!() !== false) event.preventDefault();
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
}
