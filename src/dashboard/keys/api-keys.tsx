import { useState } from "preact/hooks";
import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { numberOf, OverlapField } from "../ui/fields.tsx";
import { KEY_COLUMNS, keyActionsColumn, keyTitle } from "./key-columns.tsx";
import { KeyFields, keyFieldsIn } from "./key-fields.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { toast } from "../ui/toast.tsx";
import { ApiCalls } from "./api-calls.tsx";
import { ApiUsage } from "./api-usage.tsx";

/** What is asked for in a dialog. */
type Asked =
  | { readonly what: "create" }
  | { readonly what: "edit" | "rotate" | "revoke"; readonly key: ApiKey }
  | { readonly what: "copy"; readonly secret: string };

/** The keys of a workspace, how to call with them, and how much it calls. */
export function ApiKeysPage() {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const keys = useClient(ApiKeyService);
  const list = useQuery((signal) => keys.listApiKeys({}, { signal }), [keys]);
  const [asked, ask] = useState<Asked>();
  const create = (
    <button type="button" class="button primary" onClick={() => ask({ what: "create" })}>
      Create a key
    </button>
  );
  return (
    <Page title="API" actions={isAdmin && create}>
      <div class="stack">
        <QueryView query={list}>
          {({ data }) =>
            data.length === 0 ? (
              <NoKeys isAdmin={isAdmin} />
            ) : (
              <Table
                label="Keys"
                columns={isAdmin ? [...KEY_COLUMNS, actionsColumn(ask)] : KEY_COLUMNS}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </QueryView>
        <div class="columns">
          <ApiCalls />
          <ApiUsage />
        </div>
      </div>
      <KeyDialog asked={asked} ask={ask} changed={list.reload} />
    </Page>
  );
}

function NoKeys({ isAdmin }: { readonly isAdmin: boolean }) {
  return (
    <Empty title="No keys">
      {isAdmin
        ? "Programs call the service with a key: create one for each of them."
        : "Programs call the service with a key. Ask an admin of the workspace to create one."}
    </Empty>
  );
}

function actionsColumn(ask: (asked: Asked) => void): Column<ApiKey> {
  return keyActionsColumn(
    { edit: "Edit", rotate: "Rotate", revoke: "Revoke" },
    (act, key) => `${act}: ${keyTitle(key)}`,
    ask,
  );
}

function KeyDialog(props: {
  readonly asked: Asked | undefined;
  readonly ask: (asked: Asked | undefined) => void;
  readonly changed: () => void;
}) {
  const { asked, ask } = props;
  const close = () => ask(undefined);
  const done = (secret?: string) => {
    ask(secret === undefined ? undefined : { what: "copy", secret });
    props.changed();
  };
  switch (asked?.what) {
    case undefined:
      return null;
    case "create":
      return <CreateDialog close={close} done={done} />;
    case "edit":
      return <EditDialog apiKey={asked.key} close={close} done={done} />;
    case "rotate":
      return <RotateDialog apiKey={asked.key} close={close} done={done} />;
    case "revoke":
      return <RevokeDialog apiKey={asked.key} close={close} done={done} />;
    case "copy":
      return (
        <SecretDialog title="The new key" what="key" secret={asked.secret} close={close}>
          <p>
            Keep it where your program keeps its secrets, never in its source. Calls carry it in the
            header <code>Authorization: Bearer</code>; the commands on this page take it from the
            variable <code>SHIPMENTS_KEY</code>.
          </p>
        </SecretDialog>
      );
  }
}

interface DialogProps {
  readonly close: () => void;
  readonly done: (secret?: string) => void;
}

function CreateDialog({ close, done }: DialogProps) {
  const keys = useClient(ApiKeyService);
  const once = useIdempotencyOptions();
  const create = useAction(async (form: FormData) => {
    const { apiKey } = await keys.createApiKey(keyFieldsIn(form), once);
    done(apiKey);
  });
  return (
    <FormDialog title="Create a key" action={create} submit="Create the key" close={close}>
      <KeyFields />
    </FormDialog>
  );
}

function EditDialog(props: DialogProps & { readonly apiKey: ApiKey }) {
  const { apiKey, close, done } = props;
  const keys = useClient(ApiKeyService);
  const edit = useAction(async (form: FormData) => {
    await keys.updateApiKey({ key: apiKey.id, ...keyFieldsIn(form) });
    toast("The key is changed.");
    done();
  });
  return (
    <FormDialog title={`Edit ${keyTitle(apiKey)}`} action={edit} submit="Save" close={close}>
      <KeyFields apiKey={apiKey} />
    </FormDialog>
  );
}

function RotateDialog(props: DialogProps & { readonly apiKey: ApiKey }) {
  const { apiKey: key, close, done } = props;
  const keys = useClient(ApiKeyService);
  const once = useIdempotencyOptions();
  const rotate = useAction(async (form: FormData) => {
    const overlapSeconds = numberOf(form, "overlap_seconds") ?? 0;
    const { apiKey } = await keys.rotateApiKey({ key: key.id, overlapSeconds }, once);
    done(apiKey);
  });
  return (
    <FormDialog
      title={`Rotate ${keyTitle(key)}`}
      action={rotate}
      submit="Make a new key"
      close={close}
    >
      <p>
        A new key of the same name and scope takes the place of <code>shp_…{key.last4}</code>.
      </p>
      <OverlapField
        label="The old key ends"
        hint="Both work until then, so that your program can change over."
        value={86_400}
      />
    </FormDialog>
  );
}

function RevokeDialog(props: DialogProps & { readonly apiKey: ApiKey }) {
  const { apiKey: key, close, done } = props;
  const keys = useClient(ApiKeyService);
  const revoke = useAction(async () => {
    await keys.revokeApiKey({ key: key.id });
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
        Calls with <code>shp_…{key.last4}</code> are refused at once.{" "}
        {key.lastUsedAt ? (
          <>
            It was last used <Time at={key.lastUsedAt} />.
          </>
        ) : (
          "It has never been used."
        )}{" "}
        This cannot be undone.
      </p>
    </FormDialog>
  );
}
