import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Code } from "./code.tsx";
import { Dialog } from "./dialog.tsx";

/**
 * Shows what is shown once. `what` names it: "key" makes "Copy the key". Nothing but its button closes it:
 * what Escape would take away cannot be had again.
 */
export function SecretDialog(props: {
  readonly title: string;
  readonly what: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children: ComponentChildren;
  readonly close: () => void;
}) {
  const { title, what, secret, close } = props;
  const done = useRef<HTMLButtonElement>(null);
  const [isWarned, setWarned] = useState(false);
  const warn = () => {
    setWarned(true);
    done.current?.focus();
  };
  return (
    <Dialog title={title} close={warn}>
      <div class="form">
        <p>
          <strong>Copy the {what} now: it is not shown again.</strong>
        </p>
        <Code text={secret} what={what} />
        {props.children}
        {isWarned && (
          <p class="problem attention" role="alert">
            This is the only copy of the {what}. “Done” closes it, once you have copied it.
          </p>
        )}
        <div class="actions">
          <button ref={done} type="button" class="button primary" onClick={close}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
