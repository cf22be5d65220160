import type { ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { useClient } from "../api/clients.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { DialogButton } from "../ui/dialog.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { ApiCalls } from "./api-calls.tsx";
import { ApiUsage } from "./api-usage.tsx";
import {
  API_KEY_COLUMNS,
  apiKeyFields,
  apiKeyOf,
  createDialog,
  KeyTable,
  KeyText,
  keyTitle,
  LastUse,
  type KeyOwner,
} from "./key-table.tsx";

/** The keys of a workspace, how to call with them, and how much it calls. */
export function ApiKeysPage() {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const list = useRpc(ApiKeyService.method.listApiKeys, {});
  const owner = useKeyOwner();
  const create = (
    <DialogButton primary dialog={createDialog(owner)}>
      Create a key
    </DialogButton>
  );
  return (
    <Page title="API" actions={isAdmin && create}>
      <div class="stack">
        <QueryView query={list}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No keys">
                {isAdmin
                  ? "Programs call the service with a key: create one for each of them."
                  : "Programs call the service with a key. Ask an admin of the workspace to create one."}
              </Empty>
            ) : (
              <KeyTable
                label="Keys"
                columns={API_KEY_COLUMNS}
                keys={data}
                owner={isAdmin ? owner : undefined}
              />
            )
          }
        </QueryView>
        <div class="columns">
          <ApiCalls />
          <ApiUsage />
        </div>
      </div>
    </Page>
  );
}

function useKeyOwner(): KeyOwner<ApiKey> {
  const client = useClient(ApiKeyService);
  return {
    create: async (form, options) => (await client.createApiKey(apiKeyOf(form), options)).apiKey,
    fields: apiKeyFields,
    update: (key, form) => client.updateApiKey({ key, ...apiKeyOf(form) }),
    rotate: (key) => ({
      title: `Rotate ${keyTitle(key)}`,
      text: (
        <>
          A new key of the same name and scope takes the place of <KeyText last4={key.last4} />.
        </>
      ),
      label: "The old key ends",
      hint: "Both work until then, so that your program can change over.",
      overlapSeconds: 86_400,
      rotate: async (overlapSeconds, options) =>
        (await client.rotateApiKey({ key: key.id, overlapSeconds }, options)).apiKey,
    }),
    revoke: (key) => client.revokeApiKey({ key }),
    revokeText: (key) => (
      <>
        <KeyText last4={key.last4} /> are refused at once. <LastUse apiKey={key} />
      </>
    ),
    secretText: (
      <>
        Keep it where your program keeps its secrets, never in its source. Calls carry it in the
        header <code>Authorization: Bearer</code>; the commands on this page take it from the
        variable <code>SHIPMENTS_KEY</code>.
      </>
    ),
    labelOf: (act, title) => `${act}: ${title}`,
  };
}
