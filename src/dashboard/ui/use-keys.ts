import { useLayoutEffect, useRef } from "preact/hooks";

/** What keys do on a page, by the names that the browser gives them: `j`, `ArrowDown`. */
export type Keys = Readonly<Record<string, () => void>>;

/** Elements that use these keys themselves. */
const OWN_KEYS = "input, textarea, select, [contenteditable], [data-own-keys]";

/** Binds single keys while the page is shown, except where something is typed, and behind a dialog. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Before the page is painted: a key that is pressed as soon as it is seen counts.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(OWN_KEYS)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (!Object.hasOwn(latest.current, event.key)) return;
      event.preventDefault();
      latest.current[event.key]!();
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
}
