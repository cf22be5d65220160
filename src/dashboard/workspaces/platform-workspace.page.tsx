import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { RecentChanges, useRecentChanges } from "../audit/audit-table.tsx";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { Id } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { numberText, recordIdOf } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { providerName } from "./payment-provider-names.ts";
import {
  CALL_CLASSES,
  LimitsButton,
  PaymentsButton,
  WorkspaceActions,
  type ActionProps,
} from "./platform-workspace-actions.tsx";
import { WorkspaceBadge } from "./platform-workspaces.page.tsx";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { useOperatorRole } from "../api/session.ts";
import {
  API_KEY_COLUMNS,
  API_KEY_FIELDS,
  keyCall,
  createDialog,
  KeyTable,
  LastUse,
  rotateDialog,
  type KeyOwner,
} from "../keys/key-table.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { QueryView } from "../ui/query-view.tsx";

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
          <RecentChanges
            title="Latest changes"
            query={changes}
            href={paths.auditLog({}, { workspace: String(id) })}
          />
        </div>
      )}
    </DetailPage>
  );
}

function About(props: ActionProps) {
  const { id, createdAt, suspendedAt, paymentProvider } = props.workspace;
  const { testWorkspace, liveWorkspace } = props.workspace;
  return (
    <Section title="Details" actions={<PaymentsButton {...props} />}>
      <DescriptionList
        items={[
          ["Id", <Id id={id} />],
          ["Created", <Time at={createdAt} exact />],
          ["Suspended", suspendedAt && <Time at={suspendedAt} exact />],
          [
            "Payments",
            paymentProvider === undefined
              ? "Not connected: nothing can be booked"
              : providerName(paymentProvider),
          ],
          ["Time zone", props.workspace.timeZone.replaceAll("_", " ")],
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
      <DescriptionList
        items={CALL_CLASSES.map(([name, label]) => {
          const limit = limits?.[name];
          return [
            label,
            limit &&
              `${numberText(limit.rate)} a second, ${numberText(limit.burst)} at once after a rest`,
          ];
        })}
      />
    </Section>
  );
}

function PlatformWorkspaceKeys(props: { readonly workspace: bigint }) {
  const { workspace } = props;
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const list = useRpc(WorkspaceAdminService.method.listWorkspaceApiKeys, { workspace });
  const owner = keyOwnerOf(workspace);
  const rotateAll = rotateDialog(owner.secretText, {
    title: "Rotate all keys",
    tone: "danger",
    text: "One new key takes the place of all keys that the workspace has.",
    label: "The other keys end",
    hint: "They work until then, so that every program can change over.",
    overlapSeconds: 86_400,
    rotate: keyCall(rotateWorkspaceApiKeys, { workspace }, ({ apiKey }) => apiKey),
  });
  const buttons = (
    <>
      <DialogButton dialog={rotateAll}>Rotate all</DialogButton>
      <DialogButton dialog={createDialog(owner)}>Create a key</DialogButton>
    </>
  );
  return (
    <Section title="API keys" actions={mayChange && buttons}>
      <QueryView query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="minor">No key works: the workspace’s programs cannot call.</p>
          ) : (
            <KeyTable
              label="API keys"
              columns={API_KEY_COLUMNS}
              keys={data}
              owner={mayChange ? owner : undefined}
            />
          )
        }
      </QueryView>
    </Section>
  );
}

const {
  createWorkspaceApiKey,
  rotateWorkspaceApiKeys,
  updateWorkspaceApiKey,
  revokeWorkspaceApiKey,
} = WorkspaceAdminService.method;

function keyOwnerOf(workspace: bigint): KeyOwner<ApiKey> {
  return {
    create: keyCall(createWorkspaceApiKey, { workspace }, ({ apiKey }) => apiKey),
    fields: API_KEY_FIELDS,
    update: (key) => keyCall(updateWorkspaceApiKey, { workspace, key }),
    revoke: (key) => keyCall(revokeWorkspaceApiKey, { workspace, key }),
    revokeText: (key) => (
      <>
        <code>shp_…{key.last4}</code> are refused at once, even if it is the last key.{" "}
        <LastUse apiKey={key} />
      </>
    ),
    secretText: "Give it to those who run the workspace’s program.",
    labelOf: (act, title) => `${act} ${title}`,
  };
}
