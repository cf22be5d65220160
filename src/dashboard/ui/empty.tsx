import type { ComponentChildren } from "preact";

/** Stands where there is nothing yet, and says what to do next. */
export function Empty(props: {
  readonly title: string;
  /** A button or a link. */
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children && <p>{props.children}</p>}
      {props.action}
    </div>
  );
}
