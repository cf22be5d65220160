import {
  OperatorKind,
  OperatorRole,
  type Operator,
  type OperatorKey,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import {
  actionsColumn,
  keyCall,
  rotateDialog,
  createDialog,
  KEY_USE_COLUMNS,
  keyTitle,
  type KeyOwner,
} from "../keys/key-table.tsx";
import { DialogButton, RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { changesOf } from "../ui/changes-of.ts";
import { More } from "../ui/menu.tsx";
import { Badge } from "../ui/description-list.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";

const {
  createOperatorKey,
  createOperatorSignInLink,
  revokeOperator,
  revokeOperatorKey,
  rotateOperatorKey,
  updateOperator,
} = OperatorService.method;

/** Actions for an operator. Owners have all of them. Other operators can only create their own sign-in links. */
export function OperatorActions({ operator }: { readonly operator: Operator }) {
  const { id, name, kind } = operator;
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  if (operator.revokedAt !== undefined || !(isOwner || isOwn)) return null;
  const request = { operator: id };
  // The user's own permissions may have changed.
  const reloadOwn = () => {
    if (isOwn) void loadAccount();
  };
  return (
    <>
      {kind === OperatorKind.PERSON && <LinkButton operator={operator} />}
      {isOwner && (
        <More>
          <RpcButton
            button="Edit"
            method={updateOperator}
            title={`Edit ${name}`}
            submit="Save"
            request={(form) => ({ ...request, ...changesOf(updateOperator.input, form, operator) })}
            fields={{
              name: "Name",
              email: { label: "Email", optional: kind === OperatorKind.MACHINE },
              role: ROLE_FIELD,
            }}
            values={operator}
            done="Operator updated."
            then={reloadOwn}
          />
          <DialogButton dialog={rotation(operator)}>Rotate the key</DialogButton>
          <RpcButton
            destructive
            button="Revoke"
            method={revokeOperator}
            title={`Revoke ${name}`}
            submit="Revoke operator"
            tone="danger"
            request={request}
            done={`${name} revoked.`}
            then={reloadOwn}
          >
            <p>
              Its keys stop working at once
              {kind === OperatorKind.PERSON && ", and the person loses access to the platform"}. Its past actions stay
              in the audit log. This cannot be undone.
            </p>
          </RpcButton>
        </More>
      )}
    </>
  );
}

function LinkButton({ operator: { id, name, email } }: { readonly operator: Operator }) {
  return (
    <RpcButton
      button="Sign-in link"
      method={createOperatorSignInLink}
      title={`Sign-in link for ${name}`}
      submit="Make a link"
      request={{ operator: id }}
      then={({ signInPath }) => (
        <SecretDialog title={`A link for ${name}`} what="link" secret={location.origin + signInPath}>
          <p>The link can be used once and expires after 15 minutes.</p>
        </SecretDialog>
      )}
    >
      <p>
        Anyone who opens the link is signed in as {email}. Send it only to them. The link can be used once and expires
        after 15 minutes.
      </p>
    </RpcButton>
  );
}

function rotation({ id, name }: Operator) {
  return rotateDialog(OPERATOR_KEY_TEXT, {
    title: `Rotate the key of ${name}`,
    text: `A new key replaces all keys of ${name}.`,
    label: "Other keys expire",
    hint: "They work until then, so that you can update your API clients.",
    overlapSeconds: 0,
    rotate: keyCall(rotateOperatorKey, { operator: id }, ({ operatorKey }) => operatorKey),
  });
}

export const OPERATOR_KEY_TEXT = (
  <>
    API clients and the command line send it in the header <code>Authorization: Bearer</code>. People sign in here with
    a link.
  </>
);

export function OperatorKeys({ operator }: { readonly operator: Operator }) {
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  const mayChange = operator.revokedAt === undefined && (isOwner || isOwn);
  const owner = keyOwnerOf(operator.id);
  const create = <DialogButton dialog={createDialog(owner)}>Create key</DialogButton>;
  return (
    <Section title="Keys" actions={mayChange && create}>
      {operator.keys.length === 0 ? (
        <p class="minor">No active keys.</p>
      ) : (
        <Table label="Keys" columns={mayChange ? [...COLUMNS, actionsColumn(owner)] : COLUMNS} rows={operator.keys} />
      )}
    </Section>
  );
}

function keyOwnerOf(operator: bigint): KeyOwner<OperatorKey> {
  return {
    create: keyCall(createOperatorKey, { operator }, ({ operatorKey }) => operatorKey),
    fields: { name: { label: "Name", hint: "Its purpose, such as “Laptop”." } },
    rotate: (key) => ({
      title: `Rotate ${keyTitle(key)}`,
      text: (
        <>
          A new key replaces <code>sho_…{key.last4}</code>. Other keys are not affected.
        </>
      ),
      label: "Old key expires",
      hint: "Both keys work until then, so that you can update your API clients.",
      overlapSeconds: 0,
      rotate: keyCall(rotateOperatorKey, { operator, key: key.id }, ({ operatorKey }) => operatorKey),
    }),
    revoke: (key) => keyCall(revokeOperatorKey, { operator, key }),
    revokeText: (key) => (
      <>
        <code>sho_…{key.last4}</code> are refused at once.
      </>
    ),
    secretText: OPERATOR_KEY_TEXT,
  };
}

const COLUMNS: readonly Column<OperatorKey>[] = [
  {
    header: "Key",
    selfEvident: true,
    cell: ({ name, last4 }) => (
      <>
        {name && <strong>{name}</strong>} <code>sho_…{last4}</code>
      </>
    ),
  },
  ...KEY_USE_COLUMNS,
  {
    header: "Ends",
    cell: ({ endsAt }) =>
      endsAt ? (
        <Badge tone="attention">
          <Time at={endsAt} />
        </Badge>
      ) : (
        "—"
      ),
  },
];

export const ROLE_FIELD = {
  label: "Role",
  choices: [
    [String(OperatorRole.VIEWER), "Viewer: sees everything"],
    [String(OperatorRole.OPERATOR), "Operator: changes everything except operators"],
    [String(OperatorRole.OWNER), "Owner: changes operators too"],
  ],
} as const;

export function OperatorBadge({ operator }: { readonly operator: Operator }) {
  return operator.revokedAt === undefined ? <Badge tone="good">Active</Badge> : <Badge tone="bad">Revoked</Badge>;
}

export function isSelf({ kind, email }: Operator, ownEmail: string): boolean {
  return kind === OperatorKind.PERSON && email?.toLowerCase() === ownEmail.toLowerCase();
}
