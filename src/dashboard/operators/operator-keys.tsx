import {
  OperatorRole,
  type Operator,
  type OperatorKey,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useAccount, useOperatorRole } from "../api/session.ts";
import {
  createDialog,
  KEY_USE_COLUMNS,
  KeyTable,
  keyCall,
  keyTitle,
  type KeyOwner,
} from "../keys/key-table.tsx";
import { Badge } from "../ui/badge.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { isSelf } from "./operator-badge.tsx";

export const OPERATOR_KEY_TEXT = (
  <>
    Programs and the command line call with it, in the header <code>Authorization: Bearer</code>.
    People sign in here by a link instead.
  </>
);

export function OperatorKeys(props: { readonly operator: Operator }) {
  const { operator } = props;
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  const mayChange = operator.revokedAt === undefined && (isOwner || isOwn);
  const owner = keyOwnerOf(operator.id);
  const create = <DialogButton dialog={createDialog(owner)}>Create a key</DialogButton>;
  return (
    <Section title="Keys" actions={mayChange && create}>
      {operator.keys.length === 0 ? (
        <p class="minor">No key works.</p>
      ) : (
        <KeyTable
          label="Keys"
          columns={COLUMNS}
          keys={operator.keys}
          owner={mayChange ? owner : undefined}
        />
      )}
    </Section>
  );
}

const { createOperatorKey, rotateOperatorKey, revokeOperatorKey } = OperatorService.method;

function keyOwnerOf(operator: bigint): KeyOwner<OperatorKey> {
  return {
    create: keyCall(createOperatorKey, { operator }, ({ operatorKey }) => operatorKey),
    fields: { name: { label: "Name", hint: "What it is for, such as “Laptop”." } },
    rotate: (key) => ({
      title: `Rotate ${keyTitle(key)}`,
      text: (
        <>
          A new key takes the place of <code>sho_…{key.last4}</code>; the others go on.
        </>
      ),
      label: "The old key ends",
      hint: "Both work until then, so that programs can change over.",
      overlapSeconds: 0,
      rotate: keyCall(
        rotateOperatorKey,
        { operator, key: key.id },
        ({ operatorKey }) => operatorKey,
      ),
    }),
    revoke: (key) => keyCall(revokeOperatorKey, { operator, key }),
    revokeText: (key) => (
      <>
        <code>sho_…{key.last4}</code> are refused at once.
      </>
    ),
    secretText: OPERATOR_KEY_TEXT,
    labelOf: (act, title) => `${act} ${title}`,
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
