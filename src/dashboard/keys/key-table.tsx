import { useIsTest } from "../api/session.ts";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ComponentChildren, VNode } from "preact";
import { ApiKeyScope, type ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import type { CreateApiKeyRequestSchema } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { Badge } from "../ui/description-list.tsx";
import { DialogButton, RpcDialog, SecretDialog, type DialogProps } from "../ui/dialog.tsx";
import { OverlapField } from "../ui/fields.tsx";
import { changesOf } from "../ui/changes-of.ts";
import { More } from "../ui/menu.tsx";
import type { FieldTexts } from "../ui/request-fields.tsx";
import { type Column, rowActions } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";

/** Method groups, each with one rate limit. */
export const CALL_CLASSES = [
  ["quote", "Quotes"],
  ["read", "Reads"],
  ["write", "Changes"],
] as const;

type Key = Pick<ApiKey, "id" | "name" | "last4" | "createdAt" | "lastUsedAt" | "endsAt">;

/** Creates a dialog that makes a call. If the response has a secret, the dialog shows it with instructions. */
type KeyCall = (
  dialog: Pick<DialogProps, "title" | "submit" | "tone" | "children"> & {
    done?: string;
  } & Partial<KeyFields>,
  secretText?: ComponentChildren,
) => VNode;

/** Form fields and initial values of requests about keys. */
interface KeyFields {
  readonly fields: FieldTexts<typeof CreateApiKeyRequestSchema>;
  readonly values: Key;
}

export function keyCall<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  secretOf?: (response: MessageShape<O>) => string,
): KeyCall {
  return ({ fields, values, ...dialog }, secretText) => (
    <RpcDialog
      {...dialog}
      method={method}
      fields={fields as FieldTexts<I>}
      values={values}
      request={values ? (form) => ({ ...request, ...changesOf(method.input, form, values) }) : request}
      then={(response) =>
        secretOf && (
          <SecretDialog title="The new key" what="key" secret={secretOf(response)}>
            <p>{secretText}</p>
          </SecretDialog>
        )
      }
    />
  );
}

/** Calls that change the keys of a workspace or operator, with their texts. */
export interface KeyOwner<K extends Key> {
  readonly secretText: ComponentChildren;
  readonly create: KeyCall;
  readonly fields: KeyFields["fields"];
  /** If omitted, keys cannot be edited. */
  readonly update?: (key: string) => KeyCall;
  /** If omitted, keys cannot be rotated individually. */
  readonly rotate?: (key: K) => Rotation;
  readonly revoke: (key: string) => KeyCall;
  /** Returns the consequences of revoking a key. The text follows the key's name. */
  readonly revokeText: (key: K) => ComponentChildren;
}

interface Rotation {
  readonly title: string;
  readonly tone?: "primary" | "danger";
  readonly text: ComponentChildren;
  /** Label and hint of the field that sets when the replaced keys expire. */
  readonly label: string;
  readonly hint: string;
  readonly overlapSeconds: number;
  readonly rotate: KeyCall;
}

/** Returns a column of the owner's actions for a list of keys. */
export function actionsColumn<K extends Key>(owner: KeyOwner<K>): Column<K> {
  const { update, rotate } = owner;
  return rowActions<K>((key) => {
    const title = keyTitle(key);
    const button = (act: string, dialog: VNode) => (
      <DialogButton destructive={act === "Revoke"} label={`${act}: ${title}`} dialog={dialog}>
        {act}
      </DialogButton>
    );
    const edit = update?.(key.id)({
      title: `Edit ${title}`,
      submit: "Save",
      done: "Key updated.",
      fields: owner.fields,
      values: key,
    });
    const renew = rotate && button("Rotate", rotateDialog(owner.secretText, rotate(key)));
    return (
      <>
        {edit ? button("Edit", edit) : renew}
        <More of={title}>
          {edit && renew}
          {button(
            "Revoke",
            owner.revoke(key.id)({
              title: `Revoke ${title}`,
              tone: "danger",
              submit: "Revoke key",
              done: "Key revoked.",
              children: <p>Calls with {owner.revokeText(key)} This cannot be undone.</p>,
            }),
          )}
        </More>
      </>
    );
  });
}

export function createDialog<K extends Key>({ create, fields, secretText }: KeyOwner<K>): VNode {
  const title = "Create key";
  return create({ title, submit: "Create key", fields }, secretText);
}

/** Creates a dialog that asks how long the replaced keys stay active, then shows the new secret. */
export function rotateDialog(
  secretText: ComponentChildren,
  { text, label, hint, overlapSeconds, rotate, ...dialog }: Rotation,
): VNode {
  const children = (
    <>
      <p>{text}</p>
      <OverlapField label={label} hint={hint} value={overlapSeconds} />
    </>
  );
  return rotate({ ...dialog, submit: "Create new key", children }, secretText);
}

export const KEY_USE_COLUMNS: readonly Column<Key>[] = [
  { header: "Created", spare: "first", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : "Never") },
];

export const API_KEY_COLUMNS: readonly Column<ApiKey>[] = [
  {
    header: "Name",
    selfEvident: true,
    cell: ({ name, scope, endsAt }) => (
      <>
        <strong>{name ?? "Unnamed"}</strong> {scope === ApiKeyScope.READ_ONLY && <Badge>Read-only</Badge>}
        {scope === ApiKeyScope.COURIER && <Badge>Courier</Badge>}{" "}
        {endsAt && (
          <Badge tone="attention">
            Ends <Time at={endsAt} />
          </Badge>
        )}
      </>
    ),
  },
  { header: "Key", selfEvident: true, cell: ({ last4 }) => <KeyText last4={last4} /> },
  ...KEY_USE_COLUMNS,
];

export function KeyText({ last4 }: Pick<Key, "last4">) {
  return (
    <code>
      {useIsTest() ? "shp_test_" : "shp_"}…{last4}
    </code>
  );
}

export function keyTitle({ name, last4 }: Pick<Key, "name" | "last4">): string {
  return name ?? `…${last4}`;
}

export function LastUse({ apiKey: { lastUsedAt } }: { readonly apiKey: Key }) {
  if (lastUsedAt === undefined) return <>It has never been used.</>;
  return (
    <>
      It was last used <Time at={lastUsedAt} />.
    </>
  );
}

/** Form fields for the purpose and permissions of a workspace's key. */
export const API_KEY_FIELDS: KeyFields["fields"] = {
  name: { label: "Name", hint: "The API client that uses it, such as “Web shop”." },
  scope: {
    label: "Allowed calls",
    choices: [
      [String(ApiKeyScope.FULL), "Everything"],
      [String(ApiKeyScope.READ_ONLY), "Read and quote only"],
      [String(ApiKeyScope.COURIER), "Report as a courier only"],
    ],
  },
};
