import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { DialogButton } from "../ui/dialog.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { WebhookBadge } from "./webhook-badge.tsx";
import { ALL_TYPES, CreateWebhook } from "./webhook-dialogs.tsx";

/** The types of events that a webhook is sent. */
export function typesText({ types }: Webhook): string {
  return types.includes(ALL_TYPES) ? "All events" : types.join(", ");
}

const COLUMNS: readonly Column<Webhook>[] = [
  { header: "URL", selfEvident: true, cell: ({ url }) => url },
  { header: "State", selfEvident: true, cell: (webhook) => <WebhookBadge webhook={webhook} /> },
  { header: "Events", cell: typesText },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The addresses that events of a workspace are sent to. */
export function WebhooksPage({ workspace }: { readonly workspace: string }) {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const webhooks = useClient(WebhookService);
  const list = useQuery((signal) => webhooks.listWebhooks({}, { signal }), [webhooks]);
  const create = isAdmin && (
    <DialogButton primary dialog={<CreateWebhook workspace={workspace} />}>
      Add a webhook
    </DialogButton>
  );
  return (
    <Page title="Webhooks" actions={create}>
      <ListView
        query={list}
        label="Webhooks"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => paths.webhook({ workspace, webhook: id })}
        empty={
          <Empty title="No webhooks yet">
            A webhook is an address of yours to which the service sends what happens to shipments,
            signed and repeated until it arrives.{" "}
            {!isAdmin && "Ask an admin of the workspace to add one."}
          </Empty>
        }
      />
    </Page>
  );
}
