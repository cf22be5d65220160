import { useState } from "preact/hooks";
import {
  OperatorRole,
  type Operator,
  type OperatorKey,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useAccount, useOperatorRole } from "../api/session.ts";
import { Badge } from "../ui/badge.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { numberOf, OverlapField, TextField, textOf } from "../ui/fields.tsx";
import { isSelf } from "./operator-badge.tsx";
import { KEY_USE_COLUMNS, keyActionsColumn, keyTitle } from "../keys/key-columns.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { toast } from "../ui/toast.tsx";
import { NewKeyDialog } from "./operators.tsx";

/** What is asked for in a dialog. */
type Asked =
  | { readonly what: "create" }
  | { readonly what: "rotate" | "revoke"; readonly key: OperatorKey }
  | { readonly what: "copy"; readonly secret: string };

interface KeysProps {
  readonly operator: Operator;
  /** Called when a key was changed. */
  readonly changed: () => void;
}

/** The keys of an operator, which owners change, and the operator its own. */
export function OperatorKeys(props: KeysProps) {
  const { operator } = props;
  const [asked, ask] = useState<Asked>();
  const isOwner = useOperatorRole(OperatorRole.OWNER);
  const isOwn = isSelf(operator, useAccount().email);
  const mayChange = operator.revokedAt === undefined && (isOwner || isOwn);
  const create = (
    <button type="button" class="button" onClick={() => ask({ what: "create" })}>
      Create a key
    </button>
  );
  return (
    <Section title="Keys" actions={mayChange && create}>
      {operator.keys.length === 0 ? (
        <p class="minor">No key works.</p>
      ) : (
        <Table
          label="Keys"
          columns={mayChange ? [...KEY_COLUMNS, actionsColumn(ask)] : KEY_COLUMNS}
          rows={operator.keys}
          keyOf={({ id }) => id}
        />
      )}
      <KeyDialog {...props} asked={asked} ask={ask} />
    </Section>
  );
}

const KEY_COLUMNS: readonly Column<OperatorKey>[] = [
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

function actionsColumn(ask: (asked: Asked) => void): Column<OperatorKey> {
  return keyActionsColumn(
    { rotate: "Rotate", revoke: "Revoke" },
    (act, key) => `${act} ${keyTitle(key)}`,
    ask,
  );
}

function KeyDialog(
  props: KeysProps & {
    readonly asked: Asked | undefined;
    readonly ask: (asked: Asked | undefined) => void;
  },
) {
  const { asked, ask, operator, changed } = props;
  const close = () => ask(undefined);
  const done = (secret?: string) => {
    ask(secret === undefined ? undefined : { what: "copy", secret });
    changed();
  };
  const dialog = { operator, close, done };
  switch (asked?.what) {
    case undefined:
      return null;
    case "create":
      return <CreateDialog {...dialog} />;
    case "rotate":
      return <RotateDialog {...dialog} of={asked.key} />;
    case "revoke":
      return <RevokeDialog {...dialog} of={asked.key} />;
    case "copy":
      return <NewKeyDialog title="The new key" secret={asked.secret} close={close} />;
  }
}

interface DialogProps {
  readonly operator: Operator;
  readonly close: () => void;
  /** Called when it is done, with the secret of a new key. */
  readonly done: (secret?: string) => void;
}

function CreateDialog({ operator, close, done }: DialogProps) {
  const operators = useClient(OperatorService);
  const once = useIdempotencyOptions();
  const create = useAction(async (form: FormData) => {
    const fields = { operator: operator.id, name: textOf(form, "name") };
    const { operatorKey } = await operators.createOperatorKey(fields, once);
    done(operatorKey);
  });
  return (
    <FormDialog title="Create a key" action={create} submit="Create the key" close={close}>
      <TextField name="name" label="Name" hint="What it is for, such as “Laptop”." />
    </FormDialog>
  );
}

function RotateDialog(props: DialogProps & { readonly of: OperatorKey }) {
  const { operator, of: key, close, done } = props;
  const operators = useClient(OperatorService);
  const once = useIdempotencyOptions();
  const rotate = useAction(async (form: FormData) => {
    const overlapSeconds = numberOf(form, "overlap_seconds") ?? 0;
    const fields = { operator: operator.id, key: key.id, overlapSeconds };
    const { operatorKey } = await operators.rotateOperatorKey(fields, once);
    done(operatorKey);
  });
  return (
    <FormDialog
      title={`Rotate ${keyTitle(key)}`}
      action={rotate}
      submit="Make a new key"
      close={close}
    >
      <p>
        A new key takes the place of <code>sho_…{key.last4}</code>; the others go on.
      </p>
      <OverlapField
        label="The old key ends"
        hint="Both work until then, so that programs can change over."
        value={0}
      />
    </FormDialog>
  );
}

function RevokeDialog(props: DialogProps & { readonly of: OperatorKey }) {
  const { operator, of: key, close, done } = props;
  const operators = useClient(OperatorService);
  const revoke = useAction(async () => {
    await operators.revokeOperatorKey({ operator: operator.id, key: key.id });
    toast("The key is revoked.");
    done();
  });
  return (
    <FormDialog
      title={`Revoke ${keyTitle(key)}`}
      action={revoke}
      submit="Revoke the key"
      tone="danger"
      close={close}
    >
      <p>
        Calls with <code>sho_…{key.last4}</code> are refused at once. This cannot be undone.
      </p>
    </FormDialog>
  );
}
