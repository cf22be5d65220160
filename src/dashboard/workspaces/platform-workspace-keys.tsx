import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useOperatorRole } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { numberOf, OverlapField } from "../ui/fields.tsx";
import { KEY_COLUMNS, keyActionsColumn, keyTitle } from "../keys/key-columns.tsx";
import { KeyFields, keyFieldsIn } from "../keys/key-fields.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { toast } from "../ui/toast.tsx";

/** What is asked for in a dialog. */
type Asked =
  | { readonly what: "create" | "rotate" }
  | { readonly what: "edit" | "revoke"; readonly key: ApiKey }
  | { readonly what: "copy"; readonly secret: string };

/** The keys of a workspace, as operators see and change them. */
export function PlatformWorkspaceKeys(props: {
  readonly workspace: bigint;
  /** Called when a key was changed. */
  readonly changed: () => void;
}) {
  const { workspace } = props;
  const workspaces = useClient(WorkspaceAdminService);
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const [asked, ask] = useState<Asked>();
  const list = useQuery(
    (signal) => workspaces.listWorkspaceApiKeys({ workspace }, { signal }),
    [workspaces, workspace],
  );
  const changed = () => {
    list.reload();
    props.changed();
  };
  const columns = mayChange ? [...KEY_COLUMNS, actionsColumn(ask)] : KEY_COLUMNS;
  return (
    <Section title="API keys" actions={mayChange && <KeyButtons ask={ask} />}>
      <QueryView query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="minor">No key works: the workspace’s programs cannot call.</p>
          ) : (
            <Table label="API keys" columns={columns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </QueryView>
      <KeyDialog asked={asked} ask={ask} workspace={workspace} changed={changed} />
    </Section>
  );
}

function KeyButtons({ ask }: { readonly ask: (asked: Asked) => void }) {
  return (
    <>
      <button type="button" class="button" onClick={() => ask({ what: "rotate" })}>
        Rotate all
      </button>
      <button type="button" class="button" onClick={() => ask({ what: "create" })}>
        Create a key
      </button>
    </>
  );
}

function actionsColumn(ask: (asked: Asked) => void): Column<ApiKey> {
  return keyActionsColumn(
    { edit: "Edit", revoke: "Revoke" },
    (act, key) => `${act} ${keyTitle(key)}`,
    ask,
  );
}

interface DialogProps {
  readonly workspace: bigint;
  readonly close: () => void;
  /** Called when it is done, with the secret of a new key. */
  readonly done: (secret?: string) => void;
}

function KeyDialog(props: {
  readonly asked: Asked | undefined;
  readonly ask: (asked: Asked | undefined) => void;
  readonly workspace: bigint;
  readonly changed: () => void;
}) {
  const { asked, ask, workspace } = props;
  const close = () => ask(undefined);
  const done = (secret?: string) => {
    ask(secret === undefined ? undefined : { what: "copy", secret });
    props.changed();
  };
  const dialog = { workspace, close, done };
  switch (asked?.what) {
    case undefined:
      return null;
    case "create":
      return <CreateDialog {...dialog} />;
    case "rotate":
      return <RotateDialog {...dialog} />;
    case "edit":
      return <EditDialog {...dialog} apiKey={asked.key} />;
    case "revoke":
      return <RevokeDialog {...dialog} apiKey={asked.key} />;
    case "copy":
      return (
        <SecretDialog title="The new key" what="key" secret={asked.secret} close={close}>
          <p>Give it to those who run the workspace’s program.</p>
        </SecretDialog>
      );
  }
}

function CreateDialog({ workspace, close, done }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const once = useIdempotencyOptions();
  const create = useAction(async (form: FormData) => {
    const fields = { workspace, ...keyFieldsIn(form) };
    const { apiKey } = await workspaces.createWorkspaceApiKey(fields, once);
    done(apiKey);
  });
  return (
    <FormDialog title="Create a key" action={create} submit="Create the key" close={close}>
      <KeyFields />
    </FormDialog>
  );
}

function EditDialog(props: DialogProps & { readonly apiKey: ApiKey }) {
  const { workspace, apiKey, close, done } = props;
  const workspaces = useClient(WorkspaceAdminService);
  const edit = useAction(async (form: FormData) => {
    const fields = { workspace, key: apiKey.id, ...keyFieldsIn(form) };
    await workspaces.updateWorkspaceApiKey(fields);
    toast("The key is changed.");
    done();
  });
  return (
    <FormDialog title={`Edit ${keyTitle(apiKey)}`} action={edit} submit="Save" close={close}>
      <KeyFields apiKey={apiKey} />
    </FormDialog>
  );
}

function RotateDialog({ workspace, close, done }: DialogProps) {
  const workspaces = useClient(WorkspaceAdminService);
  const once = useIdempotencyOptions();
  const rotate = useAction(async (form: FormData) => {
    const overlapSeconds = numberOf(form, "overlap_seconds") ?? 0;
    const { apiKey } = await workspaces.rotateWorkspaceApiKeys({ workspace, overlapSeconds }, once);
    done(apiKey);
  });
  return (
    <FormDialog
      title="Rotate all keys"
      action={rotate}
      submit="Make a new key"
      tone="danger"
      close={close}
    >
      <p>One new key takes the place of all keys that the workspace has.</p>
      <OverlapField
        label="The other keys end"
        hint="They work until then, so that every program can change over."
        value={86_400}
      />
    </FormDialog>
  );
}

function RevokeDialog(props: DialogProps & { readonly apiKey: ApiKey }) {
  const { workspace, apiKey, close, done } = props;
  const workspaces = useClient(WorkspaceAdminService);
  const revoke = useAction(async () => {
    await workspaces.revokeWorkspaceApiKey({ workspace, key: apiKey.id });
    toast("The key is revoked.");
    done();
  });
  return (
    <FormDialog
      title={`Revoke ${keyTitle(apiKey)}`}
      action={revoke}
      submit="Revoke the key"
      tone="danger"
      close={close}
    >
      <p>
        Calls with <code>shp_…{apiKey.last4}</code> are refused at once, even if it is the last key.{" "}
        {apiKey.lastUsedAt ? (
          <>
            It was last used <Time at={apiKey.lastUsedAt} />.
          </>
        ) : (
          "It has never been used."
        )}{" "}
        This cannot be undone.
      </p>
    </FormDialog>
  );
}
