import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { Fragment, type ComponentChildren, type VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCall } from "../api/clients.ts";
import { createStore, useStore } from "../api/store.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Code } from "./values.tsx";
import { requestOf } from "./form-data.ts";
import { Form } from "./form.tsx";
import { RequestFields, type RequestFieldsProps } from "./request-fields.tsx";
import { toast, Toasts, useShown } from "./toast.tsx";
import "./dialog.css";

const opened = createStore<VNode | undefined>(undefined);
let count = 0;

/**
 * Opens a `<Dialog>`, a `<SecretDialog>` or a component that renders one. Replaces any open dialog.
 *
 *     openDialog(<RpcDialog method={...} title="Rename Acme" submit="Rename" />);
 *
 * The dialog does not rerender with its page. A dialog that must rerender belongs in the page, with
 * `close`.
 */
export function openDialog(dialog: VNode): void {
  opened.set(<Fragment key={++count}>{dialog}</Fragment>);
}

export function DialogButton({ dialog, ...button }: ButtonProps & { readonly dialog: VNode }) {
  return <Button {...button} onClick={() => openDialog(dialog)} />;
}

export function closeDialog(): void {
  opened.set(undefined);
}

/** Renders the dialog opened with `openDialog`. A key per page closes it on navigation. */
export function OpenDialog() {
  const dialog = useStore(opened);
  useEffect(() => closeDialog, []);
  return <>{dialog}</>;
}

export interface DialogProps {
  readonly title: string;
  /** Label that names the action, such as `Cancel shipment`, never `OK`. No button if omitted. */
  readonly submit?: string;
  /**
   * Runs the action with the form's data and an idempotency key. Refusals are shown in the dialog. On success the
   * dialog closes, or the returned dialog replaces it. `isShown` is whether the user has not closed it before. If
   * omitted, the button only closes the dialog.
   */
  readonly run?: (
    form: FormData,
    idempotencyOptions: CallOptions,
    isShown: { readonly current: boolean },
  ) => Promise<VNode | void>;
  readonly tone?: "primary" | "danger";
  /** Label of the button that changes no data, "Cancel" by default. */
  readonly dismiss?: string;
  /** Called to close the dialog, for example by Escape. Required unless `openDialog` opened it. */
  readonly close?: () => void;
  readonly children?: ComponentChildren;
}

/** A confirmation dialog with optional fields, or any contents above the page. */
export function Dialog({ title, submit, run, close = closeDialog, children, ...buttons }: DialogProps) {
  const idempotencyOptions = useIdempotencyOptions();
  const { isShown, noteError } = useShown(title);
  const action = useAction(async (form: FormData) => {
    const next = await run?.(form, idempotencyOptions, isShown).catch(noteError);
    // Escape may have closed this dialog, and another dialog may be open.
    if (isShown.current) close();
    if (next) openDialog(next);
  });
  if (submit === undefined) return <Frame {...{ title, close, children }} />;
  return (
    <Frame title={title} close={close}>
      <Form {...buttons} name={title} action={action} submit={submit} cancel={run && close}>
        {children}
      </Form>
    </Frame>
  );
}

type RpcCallProps<I extends DescMessage, O extends DescMessage> = Omit<DialogProps, "run" | "title"> &
  Partial<RequestFieldsProps<I>> & {
    /** Label of the button, the title by default. */
    readonly submit?: string;
    readonly method: DescMethodUnary<I, O>;
    /** Request fields that have no form field, or that override one. */
    readonly request?: MessageInitShape<I> | ((form: FormData) => MessageInitShape<I>);
    readonly done?: string | ((form: FormData) => string);
    /** Called with the response and whether the dialog is still shown. A returned dialog replaces this one. */
    readonly then?: (response: MessageShape<O>, isShown: boolean) => VNode | void | Promise<void>;
  };

/**
 * A dialog that makes one call. `children` come before the request's fields:
 *
 *     <RpcDialog
 *       method={WorkspaceAdminService.method.renameWorkspace}
 *       title="Rename Acme"
 *       submit="Rename"
 *       request={{ workspace: id }}
 *       fields={{ name: "Name" }}
 *       values={workspace}
 *       done="Workspace renamed."
 *     />
 */
export function RpcDialog<I extends DescMessage, O extends DescMessage>(
  props: RpcCallProps<I, O> & { readonly title: string },
) {
  const { method, request, done, then, fields, values, children, ...dialog } = props;
  const call = useCall();
  const run: DialogProps["run"] = async (form, options, isShown) => {
    const own = typeof request === "function" ? request(form) : request;
    const response = await call(method, { ...requestOf(method.input, form), ...own }, options);
    if (done !== undefined) toast(typeof done === "string" ? done : done(form));
    return then?.(response, isShown.current);
  };
  return (
    <Dialog submit={dialog.title} {...dialog} run={run}>
      {children}
      {fields && <RequestFields of={method.input} fields={fields} values={values} />}
    </Dialog>
  );
}

/** A button that opens an `<RpcDialog>`. Its accessible name is the default of the dialog's title. */
export function RpcButton<I extends DescMessage, O extends DescMessage>(
  props: RpcCallProps<I, O> & Omit<ButtonProps, "children"> & { readonly button: string; readonly title?: string },
) {
  const { button, primary, destructive, label, title = label ?? button, ...dialog } = props;
  return (
    <DialogButton {...{ primary, destructive, label }} dialog={<RpcDialog {...dialog} title={title} />}>
      {button}
    </DialogButton>
  );
}

/**
 * Shows a secret once. `what` names the secret: "key" gives the label "Copy key". Escape does
 * not close the dialog unless `isOptional` is set, because the secret cannot be shown again.
 */
export function SecretDialog(props: {
  readonly title: string;
  readonly what: string;
  readonly secret: string;
  /** Whether copying is optional. Escape then closes the dialog too. */
  readonly isOptional?: boolean;
  readonly children: ComponentChildren;
  readonly close?: () => void;
}) {
  const { title, what, secret, isOptional = false, close = closeDialog } = props;
  const content = useRef<HTMLDivElement>(null);
  const [isWarned, setWarned] = useState(false);
  const warn = () => {
    setWarned(true);
    content.current!.querySelector<HTMLElement>(".actions button")!.focus();
  };
  return (
    <Frame title={title} close={isOptional ? close : warn}>
      <div class="form" ref={content}>
        {!isOptional && (
          <p>
            <strong>Copy the {what} now: it is not shown again.</strong>
          </p>
        )}
        {isOptional && props.children}
        <Code text={secret} what={what} />
        {!isOptional && props.children}
        {isWarned && (
          <p class="problem attention" role="alert">
            The {what} is shown only once. Copy it before you choose “Done”.
          </p>
        )}
        <div class="actions">
          <Button primary onClick={close}>
            Done
          </Button>
        </div>
      </div>
    </Frame>
  );
}

/** A modal dialog. `close` is called on dismissal, also by Escape. The focus returns to the element that had it. */
function Frame(props: { readonly title: string; readonly close: () => void; readonly children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Show the dialog before the next key press, which must go to it.
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    // Close before removal: the browser restores the focus only when a dialog is closed.
    return () => shown.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Intercept Escape here: browsers close a dialog on a second Escape even if `cancel` is prevented.
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        props.close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      // Reopen if the browser closed the dialog another way, such as by a gesture.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
      <Toasts />
    </dialog>
  );
}
