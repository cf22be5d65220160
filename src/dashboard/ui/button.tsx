import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { useCall } from "../api/clients.ts";
import { useAction, type Action } from "../api/use-action.ts";
import { toast } from "./toast.tsx";

export interface ButtonProps {
  readonly primary?: boolean | undefined;
  readonly quiet?: boolean;
  /** Whether the action is destructive. Menus set such items apart. */
  readonly destructive?: boolean | undefined;
  /** Accessible name for screen readers, if the visible text needs its context. */
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
}

export function Button(
  props: ButtonProps & {
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

/** A link that looks like a button. */
export function LinkButton(props: { readonly href: string; readonly children: ComponentChildren }) {
  return <a class="button" {...props} />;
}

function kindOf(props: ButtonProps): string {
  if (props.destructive) return " destructive";
  return props.primary ? " primary" : props.quiet ? " quiet" : "";
}

/** A button that runs an action without confirmation and shows its error. */
export function ActionButton({ action, ...button }: ButtonProps & { readonly action: Action<readonly []> }) {
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

/** A button that makes one call without confirmation and shows a toast on success. */
export function RpcActionButton<I extends DescMessage, O extends DescMessage>(
  props: ButtonProps & {
    readonly method: DescMethodUnary<I, O>;
    readonly request: MessageInitShape<I>;
    readonly done?: string;
    readonly then?: (response: MessageShape<O>) => void;
  },
) {
  const { method, request, done, then, ...button } = props;
  const call = useCall();
  const action = useAction(async () => {
    const response = await call(method, request);
    if (done !== undefined) toast(done);
    then?.(response);
  });
  return <ActionButton {...button} action={action} />;
}

export function IconButton(props: {
  readonly sign: string;
  readonly label: string;
  readonly quiet?: boolean;
  /** Whether to show the label as a tooltip. */
  readonly titled?: boolean;
  readonly disabled?: boolean;
  readonly onClick: (() => void) | undefined;
}) {
  const { sign, label, quiet, titled, ...button } = props;
  return (
    <button type="button" class={quiet ? "button quiet" : "button"} title={titled ? label : undefined} {...button}>
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{label}</span>
    </button>
  );
}
