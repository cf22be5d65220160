import type { ComponentChildren } from "preact";
import "./menu.css";

/** A button that opens a few choices below it; Escape, or going elsewhere, closes them. */
export function Menu(props: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <details
      class="menu"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) currentTarget.open = false;
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !event.currentTarget.open) return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector("summary")!.focus();
      }}
    >
      <summary class="button">{props.label}</summary>
      {/* A click between the choices leaves the focus within. */}
      <div class="menu-content" tabIndex={-1}>
        {props.children}
      </div>
    </details>
  );
}
