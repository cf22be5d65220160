import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Form, type SubmitAction } from "./form.tsx";
import { Toasts } from "./toast.tsx";

/** A dialog over the page. Render it while it is open; `close` is called when it should be no more. */
export function Dialog(props: {
  readonly title: string;
  /** Called for Escape too. */
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current!.showModal();
    // The browser gives the focus back only when a dialog is closed, not when it is removed.
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
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
      onClose={(event) => event.currentTarget.showModal()}
    >
      <h2 id={id}>{props.title}</h2>
      {props.children}
      <Toasts />
    </dialog>
  );
}

/**
 * Asks before something is done, with fields where it needs them: what happens is said by the
 * children, and the button by name (`Cancel the shipment`, never `OK`). The action closes it.
 */
export function FormDialog(props: {
  readonly title: string;
  readonly action: SubmitAction;
  readonly submit: string;
  readonly tone?: "primary" | "danger";
  /** What the button says that leaves everything as it is; "Cancel" unless told otherwise. */
  readonly dismiss?: string;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}) {
  const { title, close, ...form } = props;
  // What went wrong when it was open before is of no interest now.
  useEffect(props.action.reset, []);
  return (
    <Dialog title={title} close={close}>
      <Form {...form} name={title} cancel={close} />
    </Dialog>
  );
}
