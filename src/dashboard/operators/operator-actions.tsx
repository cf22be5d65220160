import { useState } from "preact/hooks";
import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { numberOf, OverlapField, TextField, textOf } from "../ui/fields.tsx";
import { OperatorRoleField } from "./operator-fields.tsx";
import { isSelf } from "./operator-badge.tsx";
import { toast } from "../ui/toast.tsx";
import { NewKeyDialog } from "./operators.tsx";

interface ActionProps {
  readonly operator: Operator;
  /** Called when something was changed. */
  readonly changed: () => void;
}

/** What is asked for in a dialog. */
type Asked =
  | { readonly what: "edit" | "link" | "revoke" | "rotate" }
  | { readonly what: "copy-key"; readonly secret: string };

/** What an owner can do with an operator; others make a link to sign in by for themselves alone. */
export function OperatorActions(props: ActionProps) {
  const { operator } = props;
  const [asked, ask] = useState<Asked>();
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  if (operator.revokedAt !== undefined || !(isOwner || isOwn)) return null;
  const button = (what: "edit" | "link" | "revoke" | "rotate", label: string) => (
    <button type="button" class="button" onClick={() => ask({ what })}>
      {label}
    </button>
  );
  return (
    <>
      {isOwner && button("revoke", "Revoke")}
      {isOwner && button("rotate", "Rotate the key")}
      {operator.kind === OperatorKind.PERSON && button("link", "Sign-in link")}
      {isOwner && button("edit", "Edit")}
      <ActionDialog {...props} asked={asked} ask={ask} />
    </>
  );
}

function ActionDialog(
  props: ActionProps & {
    readonly asked: Asked | undefined;
    readonly ask: (asked: Asked | undefined) => void;
  },
) {
  const { asked, ask, operator, changed } = props;
  const close = () => ask(undefined);
  const dialog = { operator, changed, close };
  switch (asked?.what) {
    case undefined:
      return null;
    case "edit":
      return <EditDialog {...dialog} />;
    case "link":
      return <LinkDialog {...dialog} />;
    case "revoke":
      return <RevokeDialog {...dialog} />;
    case "rotate":
      return <RotateDialog {...dialog} done={(secret) => ask({ what: "copy-key", secret })} />;
    case "copy-key":
      return <NewKeyDialog title="The new key" secret={asked.secret} close={close} />;
  }
}

type DialogProps = ActionProps & { readonly close: () => void };

function EditDialog({ operator, changed, close }: DialogProps) {
  const operators = useClient(OperatorService);
  const ownEmail = useAccount().email;
  const edit = useAction(async (form: FormData) => {
    await operators.updateOperator({
      operator: operator.id,
      name: textOf(form, "name"),
      email: textOf(form, "email"),
      role: numberOf(form, "role"),
    });
    toast("The operator is changed.");
    close();
    changed();
    // What the reader may do can have changed with it.
    if (isSelf(operator, ownEmail)) await loadAccount();
  });
  return (
    <FormDialog title={`Edit ${operator.name}`} action={edit} submit="Save" close={close}>
      <TextField name="name" label="Name" value={operator.name} />
      <TextField
        name="email"
        label="Email"
        type="email"
        value={operator.email}
        optional={operator.kind === OperatorKind.MACHINE}
      />
      <OperatorRoleField value={operator.role} />
    </FormDialog>
  );
}

function LinkDialog({ operator, changed, close }: DialogProps) {
  const operators = useClient(OperatorService);
  const [link, setLink] = useState<string>();
  const make = useAction(async () => {
    const { signInPath } = await operators.createOperatorSignInLink({ operator: operator.id });
    setLink(location.origin + signInPath);
    changed();
  });
  if (link !== undefined) {
    return (
      <SecretDialog title={`A link for ${operator.name}`} what="link" secret={link} close={close}>
        <p>It works once, within 15 minutes.</p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title={`Sign-in link for ${operator.name}`}
      action={make}
      submit="Make a link"
      close={close}
    >
      <p>
        Whoever opens the link is signed in as {operator.email}: send it to them alone. It works
        once, within 15 minutes.
      </p>
    </FormDialog>
  );
}

function RotateDialog(props: DialogProps & { readonly done: (secret: string) => void }) {
  const { operator, changed, close, done } = props;
  const operators = useClient(OperatorService);
  const once = useIdempotencyOptions();
  const rotate = useAction(async (form: FormData) => {
    const overlapSeconds = numberOf(form, "overlap_seconds") ?? 0;
    const { operatorKey } = await operators.rotateOperatorKey(
      {
        operator: operator.id,
        overlapSeconds,
      },
      once,
    );
    done(operatorKey);
    changed();
  });
  return (
    <FormDialog
      title={`Rotate the key of ${operator.name}`}
      action={rotate}
      submit="Make a new key"
      close={close}
    >
      <p>A new key takes the place of all that {operator.name} has.</p>
      <OverlapField
        label="The other keys end"
        hint="They work until then, so that programs can change over."
        value={0}
      />
    </FormDialog>
  );
}

function RevokeDialog({ operator, changed, close }: DialogProps) {
  const operators = useClient(OperatorService);
  const ownEmail = useAccount().email;
  const revoke = useAction(async () => {
    await operators.revokeOperator({ operator: operator.id });
    toast(`${operator.name} is revoked.`);
    close();
    changed();
    if (isSelf(operator, ownEmail)) await loadAccount();
  });
  return (
    <FormDialog
      title={`Revoke ${operator.name}`}
      action={revoke}
      submit="Revoke the operator"
      tone="danger"
      close={close}
    >
      <p>
        Its keys stop working at once
        {operator.kind === OperatorKind.PERSON && ", and the person no longer sees the platform"}.
        What it did stays in the audit log. This cannot be undone.
      </p>
    </FormDialog>
  );
}
