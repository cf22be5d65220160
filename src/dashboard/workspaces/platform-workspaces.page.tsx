import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { paths, type ParametersOf } from "../routes/paths.ts";
import { navigate, useLocation } from "../routes/router.ts";
import { zoneText } from "../ui/local-time.ts";
import { Badge, DescriptionList } from "../ui/description-list.tsx";
import { RpcDialog, SecretDialog, DialogButton } from "../ui/dialog.tsx";
import { CheckField, TextField } from "../ui/fields.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { Empty, Page, Section, DetailPage } from "../ui/page.tsx";
import { type Column, ListView, useList } from "../ui/table.tsx";
import { Time, Id } from "../ui/values.tsx";
import { providerName } from "./missing-words.ts";
import { useRpc } from "../api/use-query.ts";
import { RecentChanges, useRecentChanges, Workspaces } from "../audit/audit-table.tsx";
import { rateText, recordIdOf } from "../ui/format.ts";
import { LimitsButton, WorkspaceActions, type ActionProps } from "./platform-workspace-actions.tsx";
import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import {
  actionsColumn,
  API_KEY_COLUMNS,
  API_KEY_FIELDS,
  CALL_CLASSES,
  keyCall,
  createDialog,
  LastUse,
  rotateDialog,
  type KeyOwner,
} from "../keys/key-table.tsx";

const COLUMNS: readonly Column<AdminWorkspace>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => <strong>{name}</strong> },
  { header: "State", selfEvident: true, cell: (workspace) => <WorkspaceBadge workspace={workspace} /> },
  { header: "ID", cell: ({ id }) => String(id) },
  {
    header: "Payments",
    cell: ({ paymentProvider }) => (paymentProvider === undefined ? "None" : providerName(paymentProvider)),
  },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Lists the platform's workspaces by name. The URL holds the filters. */
export function PlatformWorkspacesPage() {
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const { query } = useLocation();
  const list = useList(WorkspaceAdminService.method.listWorkspaces, filtersOf(query));
  const create = (
    <DialogButton primary dialog={<CreateWorkspaceDialog />}>
      Create workspace
    </DialogButton>
  );
  return (
    <Page title="Workspaces" actions={mayChange && create}>
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        label="Workspaces"
        columns={COLUMNS}
        href={({ id }) => paths.platformWorkspace({ workspace: id })}
        empty={<NoWorkspaces filtered={query.size > 0} />}
      />
    </Page>
  );
}

const FILTERS = {
  name_contains: { label: "Name contains" },
  suspended: {
    label: "State",
    choices: [
      ["false", "Active"],
      ["true", "Suspended"],
    ],
  },
} as const;

function filtersOf(query: URLSearchParams) {
  const { name_contains: nameContains, suspended } = filterValues(query, FILTERS);
  return { nameContains, suspended: suspended === undefined ? undefined : suspended === "true" };
}

function NoWorkspaces({ filtered }: { readonly filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No workspaces yet">
        A workspace is a team that books shipments. Create one, hand over its key, and invite its first member.
      </Empty>
    );
  }
  return (
    <Empty title="No workspaces match" link={{ label: "Show all workspaces", href: paths.platformWorkspaces({}) }}>
      Change the filters.
    </Empty>
  );
}

/** Creates a workspace, shows its first key, and opens its page. */
export function CreateWorkspaceDialog() {
  return (
    <RpcDialog
      method={WorkspaceAdminService.method.createWorkspace}
      title="Create workspace"
      then={({ data, apiKey }) => {
        const openWorkspace = () => navigate(paths.platformWorkspace({ workspace: data!.id }));
        return (
          <SecretDialog title="The workspace’s first key" what="key" secret={apiKey} close={openWorkspace}>
            <p>
              Give it to the people who run the workspace’s API client. Members can create more keys under Developers →
              API.
            </p>
          </SecretDialog>
        );
      }}
    >
      <TextField name="name" label="Name" hint="The team’s name, as its members know it." />
      <CheckField
        name="payment_provider"
        value="manual"
        label="Take manual payments"
        checked
        hint="Booking requires a payment provider."
      />
    </RpcDialog>
  );
}

function WorkspaceBadge({ workspace }: { readonly workspace: AdminWorkspace }) {
  return workspace.suspendedAt === undefined ? <Badge tone="good">Active</Badge> : <Badge tone="bad">Suspended</Badge>;
}

export function PlatformWorkspacePage(props: ParametersOf<"platformWorkspace">) {
  const id = recordIdOf(props.workspace) ?? 0n;
  const query = useRpc(WorkspaceAdminService.method.getWorkspace, { workspace: id });
  const changes = useRecentChanges({ workspace: id });
  return (
    <DetailPage
      query={query}
      up={{ label: "Workspaces", href: paths.platformWorkspaces({}) }}
      what="workspace"
      title={({ name }) => name}
      fallbackTitle={`Workspace ${props.workspace}`}
      missing={`No workspace has the id ${props.workspace}.`}
      note={(workspace) => <WorkspaceBadge workspace={workspace} />}
      actions={(workspace) => <WorkspaceActions workspace={workspace} />}
    >
      {(workspace) => (
        <div class="stack">
          <div class="columns">
            <About workspace={workspace} />
            <Limits workspace={workspace} />
          </div>
          <PlatformWorkspaceKeys workspace={id} />
          <Workspaces.Provider value={{ own: String(id) }}>
            <RecentChanges
              title="Latest changes"
              query={changes}
              href={paths.auditLog({}, { workspace: String(id) })}
            />
          </Workspaces.Provider>
        </div>
      )}
    </DetailPage>
  );
}

function About({ workspace }: ActionProps) {
  const { id, createdAt, suspendedAt, paymentProvider, testWorkspace, liveWorkspace } = workspace;
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["ID", <Id id={id} />],
          ["Created", <Time at={createdAt} exact />],
          ["Suspended", suspendedAt && <Time at={suspendedAt} exact />],
          [
            "Payments",
            paymentProvider === undefined ? "Not connected: bookings are blocked" : providerName(paymentProvider),
          ],
          ["Time zone", zoneText(workspace.timeZone)],
          ["Test twin", testWorkspace && <OtherMode id={testWorkspace} />],
          ["Test twin of", liveWorkspace && <OtherMode id={liveWorkspace} />],
        ]}
      />
    </Section>
  );
}

function OtherMode({ id }: { readonly id: bigint }) {
  return <a href={paths.platformWorkspace({ workspace: id })}>Workspace {String(id)}</a>;
}

function Limits(props: ActionProps) {
  const { limits } = props.workspace;
  return (
    <Section title="Limits" actions={<LimitsButton {...props} />}>
      <DescriptionList items={CALL_CLASSES.map(([name, label]) => [label, rateText(limits?.[name])])} />
    </Section>
  );
}

function PlatformWorkspaceKeys({ workspace }: { readonly workspace: bigint }) {
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const list = useRpc(WorkspaceAdminService.method.listWorkspaceApiKeys, { workspace });
  const owner = keyOwnerOf(workspace);
  const rotateAll = rotateDialog(owner.secretText, {
    title: "Rotate all keys",
    tone: "danger",
    text: "One new key replaces all keys of the workspace.",
    label: "Other keys expire",
    hint: "They work until then, so that you can update every API client.",
    overlapSeconds: 86_400,
    rotate: keyCall(rotateWorkspaceApiKeys, { workspace }, ({ apiKey }) => apiKey),
  });
  const buttons = (
    <>
      <DialogButton dialog={rotateAll}>Rotate all</DialogButton>
      <DialogButton dialog={createDialog(owner)}>Create key</DialogButton>
    </>
  );
  return (
    <Section title="API keys" actions={mayChange && buttons}>
      <ListView
        query={list}
        label="API keys"
        columns={mayChange ? [...API_KEY_COLUMNS, actionsColumn(owner)] : API_KEY_COLUMNS}
        empty={<p class="minor">No active keys. The workspace’s clients cannot call the API.</p>}
      />
    </Section>
  );
}

const { createWorkspaceApiKey, rotateWorkspaceApiKeys, updateWorkspaceApiKey, revokeWorkspaceApiKey } =
  WorkspaceAdminService.method;

function keyOwnerOf(workspace: bigint): KeyOwner<ApiKey> {
  return {
    create: keyCall(createWorkspaceApiKey, { workspace }, ({ apiKey }) => apiKey),
    fields: API_KEY_FIELDS,
    update: (key) => keyCall(updateWorkspaceApiKey, { workspace, key }),
    revoke: (key) => keyCall(revokeWorkspaceApiKey, { workspace, key }),
    revokeText: (key) => (
      <>
        <code>shp_…{key.last4}</code> are refused at once, even if it is the last key. <LastUse apiKey={key} />
      </>
    ),
    secretText: "Give it to the people who run the workspace’s API client.",
  };
}
