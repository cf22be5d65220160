import { useState } from "preact/hooks";
import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { typesText, WebhookFields, webhookOf } from "./webhook-fields.tsx";
import { WebhookSecretDialog } from "./webhook-secret-dialog.tsx";
import { WebhookBadge } from "./webhook-badge.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";

const COLUMNS: readonly Column<Webhook>[] = [
  { header: "URL", selfEvident: true, cell: ({ url }) => url },
  { header: "State", selfEvident: true, cell: (webhook) => <WebhookBadge webhook={webhook} /> },
  { header: "Events", cell: typesText },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** What is asked for: a new webhook, or that its secret be copied. */
type Asked = "create" | { readonly id: string; readonly secret: string } | undefined;

/** The addresses that events of a workspace are sent to. */
export function WebhooksPage({ workspace }: { readonly workspace: string }) {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const webhooks = useClient(WebhookService);
  const list = useQuery((signal) => webhooks.listWebhooks({}, { signal }), [webhooks]);
  const [asked, ask] = useState<Asked>();
  const create = isAdmin && (
    <button type="button" class="button primary" onClick={() => ask("create")}>
      Add a webhook
    </button>
  );
  return (
    <Page title="Webhooks" actions={create}>
      <QueryView query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No webhooks yet">
              A webhook is an address of yours to which the service sends what happens to shipments,
              signed and repeated until it arrives.{" "}
              {!isAdmin && "Ask an admin of the workspace to add one."}
            </Empty>
          ) : (
            <Table
              label="Webhooks"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              href={({ id }) => paths.webhook({ workspace, webhook: id })}
            />
          )
        }
      </QueryView>
      {asked === "create" && <CreateDialog close={() => ask(undefined)} done={ask} />}
      {typeof asked === "object" && (
        <WebhookSecretDialog
          secret={asked.secret}
          close={() => navigate(paths.webhook({ workspace, webhook: asked.id }))}
        />
      )}
    </Page>
  );
}

function CreateDialog(props: {
  readonly close: () => void;
  readonly done: (asked: Asked) => void;
}) {
  const webhooks = useClient(WebhookService);
  const once = useIdempotencyOptions();
  const create = useAction(async (form: FormData) => {
    const { data, secret } = await webhooks.createWebhook(webhookOf(form), once);
    props.done({ id: data!.id, secret });
  });
  return (
    <FormDialog title="Add a webhook" action={create} submit="Add the webhook" close={props.close}>
      <WebhookFields />
    </FormDialog>
  );
}
