import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useRole } from "../api/session.ts";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { RpcActionButton } from "../ui/button.tsx";
import { Id } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { WebhookBadge } from "./webhook-badge.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";
import { ALL_TYPES, CreateWebhook, EVENT_TYPES, WebhookActions } from "./webhook-dialogs.tsx";

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

export function WebhooksPage() {
  const isAdmin = useRole("admin");
  const list = useRpc(WebhookService.method.listWebhooks, {});
  return (
    <Page title="Webhooks" actions={isAdmin && <CreateWebhook />}>
      <ListView
        query={list}
        label="Webhooks"
        columns={COLUMNS}
        href={({ id }) => paths.webhook({ webhook: id })}
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
export function WebhookPage({ webhook: id }: ParametersOf<"webhook">) {
  const query = useRpc(WebhookService.method.getWebhook, { webhook: id });
  useRepeat(query.reload, REPEAT_MS);
  return (
    <DetailPage
      query={query}
      quiet
      up={{ label: "Webhooks", href: paths.webhooks() }}
      what="webhook"
      title={({ url }) => new URL(url).host}
      fallbackTitle="Webhook"
      missing="It may have been deleted."
      note={(webhook) => <WebhookBadge webhook={webhook} />}
      actions={(webhook) => <Actions webhook={webhook} />}
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

function Actions({ webhook }: { readonly webhook: Webhook }) {
  const [isAdmin, isMember] = [useRole("admin"), useRole("member")];
  return (
    <>
      {isAdmin && <WebhookActions webhook={webhook} />}
      {isMember && webhook.enabled && (
        <RpcActionButton
          primary
          method={WebhookService.method.testWebhook}
          request={{ webhook: webhook.id }}
          done="A test event is sent."
        >
          Send a test
        </RpcActionButton>
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
