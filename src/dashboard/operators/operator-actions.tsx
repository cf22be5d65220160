import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { keyCall, rotateDialog } from "../keys/key-table.tsx";
import { DialogButton, SecretDialog, RpcDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { isSelf } from "./operator-badge.tsx";
import { OPERATOR_KEY_TEXT } from "./operator-keys.tsx";

interface ActionProps {
  readonly operator: Operator;
}

/** What an owner can do with an operator; others make a link to sign in by for themselves alone. */
export function OperatorActions(props: ActionProps) {
  const { operator } = props;
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  if (operator.revokedAt !== undefined || !(isOwner || isOwn)) return null;
  return (
    <>
      {isOwner && (
        <DialogButton destructive dialog={<RevokeDialog {...props} />}>
          Revoke
        </DialogButton>
      )}
      {isOwner && <DialogButton dialog={<RotateDialog {...props} />}>Rotate the key</DialogButton>}
      {operator.kind === OperatorKind.PERSON && (
        <DialogButton dialog={<LinkDialog {...props} />}>Sign-in link</DialogButton>
      )}
      {isOwner && <DialogButton dialog={<EditDialog {...props} />}>Edit</DialogButton>}
    </>
  );
}

/** To be called after a change of an operator, who may be the reader. */
function useChanged({ operator }: ActionProps): () => void {
  const ownEmail = useAccount().email;
  return () => {
    // What the reader may do can have changed with it.
    if (isSelf(operator, ownEmail)) void loadAccount();
  };
}

function EditDialog(props: ActionProps) {
  const { id, name, email, role, kind } = props.operator;
  return (
    <RpcDialog
      method={OperatorService.method.updateOperator}
      title={`Edit ${name}`}
      submit="Save"
      request={{ operator: id }}
      done="The operator is changed."
      then={useChanged(props)}
    >
      <TextField name="name" label="Name" value={name} />
      <TextField
        name="email"
        label="Email"
        type="email"
        value={email}
        optional={kind === OperatorKind.MACHINE}
      />
      <OperatorRoleField value={role} />
    </RpcDialog>
  );
}

function LinkDialog({ operator: { id, name, email } }: ActionProps) {
  return (
    <RpcDialog
      method={OperatorService.method.createOperatorSignInLink}
      title={`Sign-in link for ${name}`}
      submit="Make a link"
      request={{ operator: id }}
      then={({ signInPath }) => {
        const link = location.origin + signInPath;
        return (
          <SecretDialog title={`A link for ${name}`} what="link" secret={link}>
            <p>It works once, within 15 minutes.</p>
          </SecretDialog>
        );
      }}
    >
      <p>
        Whoever opens the link is signed in as {email}: send it to them alone. It works once, within
        15 minutes.
      </p>
    </RpcDialog>
  );
}

function RotateDialog({ operator: { id, name } }: ActionProps) {
  return rotateDialog(OPERATOR_KEY_TEXT, {
    title: `Rotate the key of ${name}`,
    text: `A new key takes the place of all that ${name} has.`,
    label: "The other keys end",
    hint: "They work until then, so that programs can change over.",
    overlapSeconds: 0,
    rotate: keyCall(
      OperatorService.method.rotateOperatorKey,
      { operator: id },
      ({ operatorKey }) => operatorKey,
    ),
  });
}

function RevokeDialog(props: ActionProps) {
  const { id, name, kind } = props.operator;
  return (
    <RpcDialog
      method={OperatorService.method.revokeOperator}
      title={`Revoke ${name}`}
      submit="Revoke the operator"
      tone="danger"
      request={{ operator: id }}
      done={`${name} is revoked.`}
      then={useChanged(props)}
    >
      <p>
        Its keys stop working at once
        {kind === OperatorKind.PERSON && ", and the person no longer sees the platform"}. What it
        did stays in the audit log. This cannot be undone.
      </p>
    </RpcDialog>
  );
}

const ROLES = [
  [String(OperatorRole.VIEWER), "Viewer: sees everything"],
  [String(OperatorRole.OPERATOR), "Operator: changes everything but operators"],
  [String(OperatorRole.OWNER), "Owner: changes operators too"],
] as const;

export function OperatorRoleField({ value }: { readonly value: OperatorRole }) {
  return <SelectField name="role" label="Role" value={value} choices={ROLES} />;
}
