import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import {
  API_KEY_COLUMNS,
  apiKeyFields,
  apiKeyOf,
  createDialog,
  KeyTable,
  LastUse,
  rotateDialog,
  type KeyOwner,
} from "../keys/key-table.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";

export function PlatformWorkspaceKeys(props: { readonly workspace: bigint }) {
  const { workspace } = props;
  const workspaces = useClient(WorkspaceAdminService);
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const list = useRpc(WorkspaceAdminService.method.listWorkspaceApiKeys, { workspace });
  const owner = useKeyOwner(workspace);
  const rotateAll = rotateDialog(owner, {
    title: "Rotate all keys",
    tone: "danger",
    text: "One new key takes the place of all keys that the workspace has.",
    label: "The other keys end",
    hint: "They work until then, so that every program can change over.",
    overlapSeconds: 86_400,
    rotate: async (overlapSeconds, options) =>
      (await workspaces.rotateWorkspaceApiKeys({ workspace, overlapSeconds }, options)).apiKey,
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

function useKeyOwner(workspace: bigint): KeyOwner<ApiKey> {
  const workspaces = useClient(WorkspaceAdminService);
  return {
    create: async (form, options) =>
      (await workspaces.createWorkspaceApiKey({ workspace, ...apiKeyOf(form) }, options)).apiKey,
    fields: apiKeyFields,
    update: (key, form) => workspaces.updateWorkspaceApiKey({ workspace, key, ...apiKeyOf(form) }),
    revoke: (key) => workspaces.revokeWorkspaceApiKey({ workspace, key }),
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
