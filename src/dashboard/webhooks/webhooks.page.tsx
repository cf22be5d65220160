import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { ActionButton } from "../ui/button.tsx";
import { Id } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { Time } from "../ui/values.tsx";
import { WebhookBadge } from "./webhook-badge.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";
import {
  ALL_TYPES,
  CreateWebhook,
  DeleteWebhook,
  EditWebhook,
  EVENT_TYPES,
  RotateSecret,
  SwitchWebhook,
} from "./webhook-dialogs.tsx";

const LABELS: ReadonlyMap<string, string> = new Map(EVENT_TYPES);

function typesText({ types }: Webhook): string {
  if (types.includes(ALL_TYPES)) return "All events";
  return types.map((type) => LABELS.get(type) ?? type).join(", ");
}

const COLUMNS: readonly Column<Webhook>[] = [
  { header: "URL", selfEvident: true, cell: ({ url }) => url },
  { header: "State", selfEvident: true, cell: (webhook) => <WebhookBadge webhook={webhook} /> },
  { header: "Events", cell: typesText },
  { header: "Created", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function WebhooksPage({ workspace }: ParametersOf<"webhooks">) {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const list = useRpc(WebhookService.method.listWebhooks, {});
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

/** How often the state is loaded anew, in milliseconds. */
const REPEAT_MS = 5_000;

/** One webhook: its state, what can be done with it, and what was sent to it. */
export function WebhookPage(props: ParametersOf<"webhook">) {
  const { workspace, webhook: id } = props;
  const query = useRpc(WebhookService.method.getWebhook, { webhook: id });
  useRepeat(query.reload, REPEAT_MS);
  const up = { label: "Webhooks", href: paths.webhooks({ workspace }) };
  return (
    <DetailPage
      query={query}
      quiet
      up={up}
      what="webhook"
      title={({ url }) => new URL(url).host}
      fallbackTitle="Webhook"
      missing="It may have been deleted."
      note={(webhook) => <WebhookBadge webhook={webhook} />}
      actions={(webhook) => <Actions webhook={webhook} list={up.href} />}
    >
      {(webhook) => (
        <div class="stack">
          <Details webhook={webhook} />
          <WebhookDeliveries webhook={webhook} />
        </div>
      )}
    </DetailPage>
  );
}

function Actions(props: { readonly webhook: Webhook; readonly list: string }) {
  const { webhook } = props;
  const workspace = useWorkspace();
  const webhooks = useClient(WebhookService);
  const test = useAction(async () => {
    await webhooks.testWebhook({ webhook: webhook.id });
    toast("A test event is sent.");
  });
  return (
    <>
      {hasRole(workspace, "admin") && (
        <>
          <DialogButton destructive dialog={<DeleteWebhook {...props} />}>
            Delete
          </DialogButton>
          <DialogButton dialog={<RotateSecret {...props} />}>Rotate secret</DialogButton>
          <DialogButton dialog={<SwitchWebhook {...props} />}>
            {webhook.enabled ? "Disable" : "Enable"}
          </DialogButton>
          <DialogButton dialog={<EditWebhook {...props} />}>Edit</DialogButton>
        </>
      )}
      {hasRole(workspace, "member") && webhook.enabled && (
        <ActionButton primary action={test}>
          Send a test
        </ActionButton>
      )}
    </>
  );
}

function Details({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, enabled, failingSince, createdAt, updatedAt } = webhook;
  return (
    <Section title="Details">
      <div class="stack">
        {!enabled && (
          <p class="problem attention">
            Nothing is sent to it. What happens meanwhile can be sent again, event by event, once it
            is enabled.
          </p>
        )}
        <DescriptionList
          items={[
            ["URL", url],
            ["Events", typesText(webhook)],
            ["Failing since", failingSince && <Time at={failingSince} exact />],
            ["Created", <Time at={createdAt} exact />],
            ["Changed", <Time at={updatedAt} exact />],
            ["Id", <Id id={id} />],
          ]}
        />
      </div>
    </Section>
  );
}
