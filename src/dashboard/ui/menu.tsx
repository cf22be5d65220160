import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "./use-keys.ts";
import "./menu.css";

const TYPED = "input:not([type=checkbox])";
const FIRST = ".menu-content :is(a, button, input:not([type=hidden]), select)";

/** A button that opens a menu below it. The menu closes on a choice, on Escape and on loss of focus. */
export function Menu(props: {
  readonly label: ComponentChildren;
  /** Accessible name, if the label is not enough. */
  readonly name?: string;
  /** Whether the menu is initially open, with the focus inside. */
  readonly isOpen?: boolean;
  readonly closed?: () => void;
  /** Keyboard shortcut that opens the menu. */
  readonly opensBy?: string;
  readonly children: ComponentChildren;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const open = () => {
    menu.current!.open = true;
    menu.current!.querySelector<HTMLElement>(FIRST)?.focus();
  };
  const close = () => {
    menu.current!.querySelector("summary")!.focus();
    menu.current!.open = false;
  };
  useEffect(() => {
    if (props.isOpen) open();
  }, []);
  useKeys(props.opensBy === undefined ? {} : { [props.opensBy]: open });
  return (
    <details
      ref={menu}
      class="menu"
      onToggle={({ currentTarget }) => !currentTarget.open && props.closed?.()}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) currentTarget.open = false;
      }}
      onKeyDown={(event) => {
        // Enter in a text field closes the menu. The resulting blur applies the text.
        const isTyped = event.key === "Enter" && (event.target as Element).matches(TYPED);
        if (event.key !== "Escape" && !isTyped) return;
        if (event.defaultPrevented || !event.currentTarget.open) return;
        event.preventDefault();
        close();
      }}
    >
      <summary class="button" aria-label={props.name} title={props.name}>
        {props.label}
      </summary>
      {/* A click between the items keeps the focus inside. */}
      <div
        class="menu-content"
        tabIndex={-1}
        onClick={({ target }) => (target as Element).closest("a, button") && close()}
      >
        {props.children}
      </div>
    </details>
  );
}

/** Menu of the secondary actions of a page, or of the row that it names. Irreversible actions come last. */
export function More({ of, children }: { readonly of?: string; readonly children: ComponentChildren }) {
  return (
    <Menu label="…" name={of === undefined ? "More" : `More: ${of}`}>
      {children}
    </Menu>
  );
}
