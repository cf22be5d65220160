import { Code } from "@connectrpc/connect";
import {
  AuditService,
  type ListAuditEntriesResponse,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { recordIdOf } from "../ui/format.ts";
import { QueryView } from "../ui/query-view.tsx";
import { RecentChanges } from "../audit/audit-table.tsx";
import { Time } from "../ui/values.tsx";
import { WorkspaceBadge } from "./workspace-badge.tsx";
import { paths } from "../routes/paths.ts";
import { WorkspaceActions } from "./platform-workspace-actions.tsx";
import { PlatformWorkspaceKeys } from "./platform-workspace-keys.tsx";
import { PlatformWorkspaceLimits } from "./platform-workspace-limits.tsx";
import { PaymentsButton } from "./platform-workspace-payments.tsx";

/** One workspace as operators see and change it. */
export function PlatformWorkspacePage(props: { readonly workspace: string }) {
  const id = recordIdOf(props.workspace);
  const up = { label: "Workspaces", href: paths.platformWorkspaces({}) };
  const workspaces = useClient(WorkspaceAdminService);
  const query = useQuery(
    (signal) => workspaces.getWorkspace({ workspace: id ?? 0n }, { signal }),
    [workspaces, id],
  );
  const changes = useChanges(id ?? 0n);
  const workspace = query.data?.data;
  if (query.problem?.code === Code.NotFound) return <NoWorkspace id={props.workspace} up={up} />;
  const changed = () => {
    query.reload();
    changes.reload();
  };
  return (
    <Page
      title={workspace?.name ?? "Workspace"}
      up={up}
      note={workspace && <WorkspaceBadge workspace={workspace} />}
      actions={workspace && <WorkspaceActions workspace={workspace} changed={changed} />}
    >
      <QueryView query={query}>
        {({ data }) => data && <Content workspace={data} changes={changes} changed={changed} />}
      </QueryView>
    </Page>
  );
}

/** The latest changes that concern a workspace. */
function useChanges(workspace: bigint): Query<ListAuditEntriesResponse> {
  const audit = useClient(AuditService);
  return useQuery(
    (signal) => audit.listAuditEntries({ workspace, pageSize: 10 }, { signal }),
    [audit, workspace],
  );
}

interface ContentProps {
  readonly workspace: AdminWorkspace;
  readonly changed: () => void;
}

function Content(props: ContentProps & { readonly changes: Query<ListAuditEntriesResponse> }) {
  const { workspace, changes, changed } = props;
  const log = paths.auditLog({}, { workspace: String(workspace.id) });
  return (
    <div class="stack">
      <div class="columns">
        <About workspace={workspace} changed={changed} />
        <PlatformWorkspaceLimits workspace={workspace} changed={changed} />
      </div>
      <PlatformWorkspaceKeys workspace={workspace.id} changed={changes.reload} />
      <RecentChanges title="Latest changes" query={changes} href={log} />
    </div>
  );
}

function About({ workspace, changed }: ContentProps) {
  const { id, createdAt, suspendedAt, paymentProvider } = workspace;
  return (
    <Section title="About it" actions={<PaymentsButton workspace={workspace} changed={changed} />}>
      <DescriptionList
        items={[
          [
            "Id",
            <>
              <code>{String(id)}</code> <CopyButton text={String(id)} what="id" />
            </>,
          ],
          ["Created", <Time at={createdAt} exact />],
          ["Suspended", suspendedAt && <Time at={suspendedAt} exact />],
          ["Payments", paymentProvider ?? "Not connected: nothing can be booked"],
        ]}
      />
    </Section>
  );
}

function NoWorkspace(props: {
  readonly id: string;
  readonly up: { readonly label: string; readonly href: string };
}) {
  return (
    <Page title={`Workspace ${props.id}`} up={props.up}>
      <Empty
        title="There is no such workspace"
        action={
          <a class="button" href={props.up.href}>
            Show all workspaces
          </a>
        }
      >
        No workspace has the id {props.id}.
      </Empty>
    </Page>
  );
}
