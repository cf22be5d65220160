import type { ComponentChildren } from "preact";
import { Code } from "./code.tsx";
import { Dialog } from "./dialog.tsx";

/** Shows what is shown once. `what` names it: "key" makes "Copy the key". */
export function SecretDialog(props: {
  readonly title: string;
  readonly what: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children: ComponentChildren;
  readonly close: () => void;
}) {
  const { title, what, secret, close } = props;
  return (
    <Dialog title={title} close={close}>
      <div class="form">
        <p>
          <strong>Copy the {what} now: it is not shown again.</strong>
        </p>
        <Code text={secret} what={what} />
        {props.children}
        <div class="actions">
          <button type="button" class="button primary" onClick={close}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
