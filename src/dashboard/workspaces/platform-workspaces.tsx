import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { useOperatorRole } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog, SecretDialog } from "../ui/dialog.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { CheckField, TextField, textOf } from "../ui/fields.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Pager, usePageToken } from "../ui/pager.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { WorkspaceBadge } from "./workspace-badge.tsx";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";

const COLUMNS: readonly Column<AdminWorkspace>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => <strong>{name}</strong> },
  {
    header: "State",
    selfEvident: true,
    cell: (workspace) => <WorkspaceBadge workspace={workspace} />,
  },
  { header: "Id", cell: ({ id }) => String(id) },
  { header: "Payments", cell: ({ paymentProvider }) => paymentProvider ?? "Not connected" },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The workspaces of the platform by name, with filters that are in the address. */
export function PlatformWorkspacesPage() {
  const workspaces = useClient(WorkspaceAdminService);
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const { query } = usePlace();
  const pageToken = usePageToken();
  const [isCreating, setCreating] = useState(false);
  const list = useQuery(
    (signal) =>
      workspaces.listWorkspaces({ ...filtersOf(query), pageToken, pageSize: 50 }, { signal }),
    [workspaces, query.toString()],
  );
  const create = (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      Create a workspace
    </button>
  );
  return (
    <Page title="Workspaces" actions={mayChange && create}>
      <Filters fields={FILTERS} />
      <QueryView query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <NoWorkspaces filtered={query.size > 0} />
          ) : (
            <>
              <Table
                label="Workspaces"
                columns={COLUMNS}
                rows={data}
                keyOf={({ id }) => String(id)}
                href={({ id }) => paths.platformWorkspace({ workspace: id })}
              />
              <Pager nextPageToken={nextPageToken} />
            </>
          )
        }
      </QueryView>
      {isCreating && <CreateDialog close={() => setCreating(false)} />}
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

/** What the query of the address asks for. */
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
      action={
        <a class="button" href={paths.platformWorkspaces({})}>
          Show all workspaces
        </a>
      }
    >
      Change the filters.
    </Empty>
  );
}

/** Asks for a name, and then shows the first key, before it leads to the new workspace. */
function CreateDialog({ close }: { readonly close: () => void }) {
  const workspaces = useClient(WorkspaceAdminService);
  const once = useIdempotencyOptions();
  const [made, setMade] = useState<{ readonly workspace: bigint; readonly key: string }>();
  const create = useAction(async (form: FormData) => {
    const paymentProvider = form.has("payment_provider") ? "manual" : undefined;
    const name = textOf(form, "name");
    const { data, apiKey } = await workspaces.createWorkspace({ name, paymentProvider }, once);
    setMade({ workspace: data!.id, key: apiKey });
  });
  if (made !== undefined) {
    const goOn = () => navigate(paths.platformWorkspace(made));
    return (
      <SecretDialog title="The workspace’s first key" what="key" secret={made.key} close={goOn}>
        <p>
          Give it to those who run the workspace’s program. Its members can make keys of their own
          under Settings → API.
        </p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title="Create a workspace"
      action={create}
      submit="Create the workspace"
      close={close}
    >
      <TextField name="name" label="Name" hint="The team’s, as its members know it." />
      <CheckField
        name="payment_provider"
        label="Take manual payments"
        checked
        hint="Without a payment provider nothing can be booked."
      />
    </FormDialog>
  );
}
