import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { Fragment, type ComponentChildren, type RefObject, type VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCall } from "../api/clients.ts";
import { createStore, useStore } from "../api/store.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Code } from "./copy-button.tsx";
import { requestOf } from "./form-data.ts";
import { Form } from "./form.tsx";
import { RequestFields, type RequestFieldsProps } from "./request-fields.tsx";
import { toast, Toasts } from "./toast.tsx";
import "./dialog.css";

const opened = createStore<VNode | undefined>(undefined);
let count = 0;

/**
 * Opens a `<Dialog>`, a `<SecretDialog>` or a component that renders one; whatever was open is closed.
 *
 *     openDialog(<RpcDialog method={...} title="Rename Acme" submit="Rename" />);
 *
 * It does not follow the page that opened it: a dialog that has to is rendered by the page, with `close`.
 */
export function openDialog(dialog: VNode): void {
  opened.set(<Fragment key={++count}>{dialog}</Fragment>);
}

export function DialogButton(props: ButtonProps & { readonly dialog: VNode }) {
  const { dialog, ...button } = props;
  return <Button {...button} onClick={() => openDialog(dialog)} />;
}

export function closeDialog(): void {
  opened.set(undefined);
}

/** Where `openDialog` shows dialogs. With a page's key, it closes them when the page is left. */
export function OpenDialog() {
  const dialog = useStore(opened);
  useEffect(() => closeDialog, []);
  return <>{dialog}</>;
}

export interface DialogProps {
  readonly title: string;
  /**
   * What the button says: what it does by name (`Cancel the shipment`, never `OK`). Without it there are
   * no buttons but those of the children.
   */
  readonly submit?: string;
  /**
   * Does it with what was typed, and with options that make a repeated call harmless; a refusal is
   * shown. Then the dialog closes, and one that is given takes its place. Without it the button closes.
   */
  readonly run?: (form: FormData, idempotencyOptions: CallOptions) => Promise<VNode | void>;
  readonly tone?: "primary" | "danger";
  /** What the button says that leaves everything as it is; "Cancel" by default. */
  readonly dismiss?: string;
  /** Called for Escape too; needed when `openDialog` did not open it. */
  readonly close?: () => void;
  readonly children?: ComponentChildren;
}

/** Asks before something is done, with fields where it needs them; or shows something over the page. */
export function Dialog(props: DialogProps) {
  const { title, submit, run, close = closeDialog, children, ...buttons } = props;
  const idempotencyOptions = useIdempotencyOptions();
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const action = useAction(async (form: FormData) => {
    const next = await run?.(form, idempotencyOptions);
    // Escape may have closed it meanwhile, and another be open.
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

type RpcDialogProps<I extends DescMessage, O extends DescMessage> = Omit<DialogProps, "run"> &
  Partial<RequestFieldsProps<I>> & {
    /** What the button says; the title when not given. */
    readonly submit?: string;
    readonly method: DescMethodUnary<I, O>;
    /** What the fields do not hold, or hold otherwise than the request has it. */
    readonly request?: MessageInitShape<I> | ((form: FormData) => MessageInitShape<I>);
    readonly done?: string | ((form: FormData) => string);
    /** Called with the response; a dialog that it gives takes the place of this one. */
    readonly then?: (response: MessageShape<O>) => VNode | void | Promise<void>;
  };

/**
 * A dialog that makes one call, once, with what its fields hold; they come after what is in it:
 *
 *     <RpcDialog
 *       method={WorkspaceAdminService.method.renameWorkspace}
 *       title="Rename Acme"
 *       submit="Rename"
 *       request={{ workspace: id }}
 *       fields={{ name: "Name" }}
 *       values={workspace}
 *       done="The workspace is renamed."
 *     />
 */
export function RpcDialog<I extends DescMessage, O extends DescMessage>(
  props: RpcDialogProps<I, O>,
) {
  const { method, request, done, then, fields, values, children, ...dialog } = props;
  const call = useCall();
  const run: DialogProps["run"] = async (form, options) => {
    const own = typeof request === "function" ? request(form) : request;
    const response = await call(method, { ...requestOf(method.input, form), ...own }, options);
    if (done !== undefined) toast(typeof done === "string" ? done : done(form));
    return then?.(response);
  };
  return (
    <Dialog submit={dialog.title} {...dialog} run={run}>
      {children}
      {fields && <RequestFields of={method.input} fields={fields} values={values} />}
    </Dialog>
  );
}

/** A button that opens an `<RpcDialog>`; `button` is what it says. */
export function RpcButton<I extends DescMessage, O extends DescMessage>(
  props: RpcDialogProps<I, O> & Omit<ButtonProps, "children"> & { readonly button: string },
) {
  const { button, primary, destructive, label, ...dialog } = props;
  return (
    <DialogButton {...{ primary, destructive, label }} dialog={<RpcDialog {...dialog} />}>
      {button}
    </DialogButton>
  );
}

/**
 * Shows what is shown once. `what` names it: "key" makes "Copy the key". Nothing but its button closes it,
 * unless it is optional: what Escape would take away cannot be had again.
 */
export function SecretDialog(props: {
  readonly title: string;
  readonly what: string;
  readonly secret: string;
  /** Whether it may be left uncopied, so that Escape closes too. */
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
            This is the only copy of the {what}. “Done” closes it, once you have copied it.
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

/** `close` is asked to close it, for Escape too. */
function Frame(props: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Before the browser takes it: it closes a dialog at the second Escape whatever `cancel` says.
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        props.close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
      // A browser may close it by other ways, such as a gesture.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
      <Toasts />
    </dialog>
  );
}

/** Shows the dialog that the reference is given to above the page. Its opener gets the focus back. */
function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    // The browser gives the focus back only when a dialog is closed, not when it is removed.
    return () => shown.close();
  }, []);
  return dialog;
}
