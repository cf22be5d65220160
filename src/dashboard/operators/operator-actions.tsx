import {
  OperatorKind,
  OperatorRole,
  type Operator,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { keyCall, rotateDialog } from "../keys/key-table.tsx";
import { DialogButton, RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { isSelf, ROLE_FIELD } from "./operator-badge.tsx";
import { OPERATOR_KEY_TEXT } from "./operator-keys.tsx";

const { updateOperator, createOperatorSignInLink, rotateOperatorKey, revokeOperator } =
  OperatorService.method;

interface ActionProps {
  readonly operator: Operator;
}

/** What an owner can do with an operator; others make a link to sign in by for themselves alone. */
export function OperatorActions({ operator }: ActionProps) {
  const { id, name, kind } = operator;
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  if (operator.revokedAt !== undefined || !(isOwner || isOwn)) return null;
  const request = { operator: id };
  // What the reader may do can have changed with it.
  const reloadOwn = () => {
    if (isOwn) void loadAccount();
  };
  return (
    <>
      {isOwner && (
        <RpcButton
          destructive
          button="Revoke"
          method={revokeOperator}
          title={`Revoke ${name}`}
          submit="Revoke the operator"
          tone="danger"
          request={request}
          done={`${name} is revoked.`}
          then={reloadOwn}
        >
          <p>
            Its keys stop working at once
            {kind === OperatorKind.PERSON && ", and the person no longer sees the platform"}. What
            it did stays in the audit log. This cannot be undone.
          </p>
        </RpcButton>
      )}
      {isOwner && <DialogButton dialog={rotation(operator)}>Rotate the key</DialogButton>}
      {kind === OperatorKind.PERSON && <LinkButton operator={operator} />}
      {isOwner && (
        <RpcButton
          button="Edit"
          method={updateOperator}
          title={`Edit ${name}`}
          submit="Save"
          request={request}
          fields={{
            name: "Name",
            email: { label: "Email", optional: kind === OperatorKind.MACHINE },
            role: ROLE_FIELD,
          }}
          values={operator}
          done="The operator is changed."
          then={reloadOwn}
        />
      )}
    </>
  );
}

function LinkButton({ operator: { id, name, email } }: ActionProps) {
  return (
    <RpcButton
      button="Sign-in link"
      method={createOperatorSignInLink}
      title={`Sign-in link for ${name}`}
      submit="Make a link"
      request={{ operator: id }}
      then={({ signInPath }) => (
        <SecretDialog
          title={`A link for ${name}`}
          what="link"
          secret={location.origin + signInPath}
        >
          <p>It works once, within 15 minutes.</p>
        </SecretDialog>
      )}
    >
      <p>
        Whoever opens the link is signed in as {email}: send it to them alone. It works once, within
        15 minutes.
      </p>
    </RpcButton>
  );
}

function rotation({ id, name }: Operator) {
  return rotateDialog(OPERATOR_KEY_TEXT, {
    title: `Rotate the key of ${name}`,
    text: `A new key takes the place of all that ${name} has.`,
    label: "The other keys end",
    hint: "They work until then, so that programs can change over.",
    overlapSeconds: 0,
    rotate: keyCall(rotateOperatorKey, { operator: id }, ({ operatorKey }) => operatorKey),
  });
}
