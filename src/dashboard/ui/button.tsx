import type { ComponentChildren } from "preact";
import type { Action } from "../api/use-action.ts";

export interface ButtonProps {
  readonly primary?: boolean;
  /** Whether it leads to what takes something away for good: it stands apart from the others. */
  readonly destructive?: boolean;
  /** What it is called for those who do not see what is around it. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

export function Button(
  props: ButtonProps & {
    readonly quiet?: boolean;
    readonly busy?: boolean;
    readonly disabled?: boolean;
    readonly onClick: () => void;
  },
) {
  const kind = kindOf(props);
  return (
    <button
      type="button"
      class={`button${kind}`}
      aria-label={props.label}
      aria-busy={props.busy}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

function kindOf(props: ButtonProps & { readonly quiet?: boolean }): string {
  if (props.destructive) return " destructive";
  return props.primary ? " primary" : props.quiet ? " quiet" : "";
}

/** A button that runs an action without asking, with what went wrong before it. */
export function ActionButton(props: ButtonProps & { readonly action: Action<readonly []> }) {
  const { action, ...button } = props;
  return (
    <>
      {action.problem && (
        <span class="field-error" role="alert">
          {action.problem.message}
        </span>
      )}
      <Button {...button} busy={action.isRunning} onClick={() => void action.run()} />
    </>
  );
}

export function IconButton(props: {
  readonly sign: string;
  readonly label: string;
  readonly quiet?: boolean;
  /** Whether the label shows when the button is pointed at. */
  readonly titled?: boolean;
  readonly disabled?: boolean;
  readonly onClick: (() => void) | undefined;
}) {
  const { sign, label, quiet, titled, ...button } = props;
  return (
    <button
      type="button"
      class={quiet ? "button quiet" : "button"}
      title={titled ? label : undefined}
      {...button}
    >
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{label}</span>
    </button>
  );
}
