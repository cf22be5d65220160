import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";
import { Badge } from "../ui/badge.tsx";
import { RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { CheckField, TextField } from "../ui/fields.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { ListView, useList } from "../ui/list-view.tsx";
import { Empty, Page } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { providerName } from "./payment-provider-names.ts";

const COLUMNS: readonly Column<AdminWorkspace>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => <strong>{name}</strong> },
  {
    header: "State",
    selfEvident: true,
    cell: (workspace) => <WorkspaceBadge workspace={workspace} />,
  },
  { header: "Id", cell: ({ id }) => String(id) },
  {
    header: "Payments",
    cell: ({ paymentProvider }) =>
      paymentProvider === undefined ? "Not connected" : providerName(paymentProvider),
  },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The workspaces of the platform by name, with filters that are in the address. */
export function PlatformWorkspacesPage() {
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const { query } = usePlace();
  const list = useList(WorkspaceAdminService.method.listWorkspaces, filtersOf(query));
  return (
    <Page title="Workspaces" actions={mayChange && <CreateButton />}>
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
        A workspace is a team that books. Create one, give it its key, and invite its first member.
      </Empty>
    );
  }
  return (
    <Empty
      title="No workspaces match"
      link={{ label: "Show all workspaces", href: paths.platformWorkspaces({}) }}
    >
      Change the filters.
    </Empty>
  );
}

/** Asks for a name, and then shows the first key, before it leads to the new workspace. */
function CreateButton() {
  return (
    <RpcButton
      primary
      button="Create a workspace"
      method={WorkspaceAdminService.method.createWorkspace}
      title="Create a workspace"
      submit="Create the workspace"
      then={({ data, apiKey }) => {
        const goOn = () => navigate(paths.platformWorkspace({ workspace: data!.id }));
        return (
          <SecretDialog title="The workspace’s first key" what="key" secret={apiKey} close={goOn}>
            <p>
              Give it to those who run the workspace’s program. Its members can make keys of their
              own under Settings → API.
            </p>
          </SecretDialog>
        );
      }}
    >
      <TextField name="name" label="Name" hint="The team’s, as its members know it." />
      <CheckField
        name="payment_provider"
        value="manual"
        label="Take manual payments"
        checked
        hint="Without a payment provider nothing can be booked."
      />
    </RpcButton>
  );
}

export function WorkspaceBadge({ workspace }: { readonly workspace: AdminWorkspace }) {
  return workspace.suspendedAt === undefined ? (
    <Badge tone="good">Active</Badge>
  ) : (
    <Badge tone="bad">Suspended</Badge>
  );
}
