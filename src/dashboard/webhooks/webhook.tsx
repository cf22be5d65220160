import { Code } from "@connectrpc/connect";
import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery, useRepeat } from "../api/use-query.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Time } from "../ui/values.tsx";
import { typesText } from "./webhook-fields.tsx";
import { WebhookBadge } from "./webhook-badge.tsx";
import { paths } from "../routes/paths.ts";
import { WebhookActions } from "./webhook-dialogs.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";

/** How often the state is loaded anew, in milliseconds. */
const REPEAT_MS = 5_000;

/** One webhook: its state, what can be done with it, and what was sent to it. */
export function WebhookPage(props: { readonly workspace: string; readonly webhook: string }) {
  const { workspace, webhook: id } = props;
  const webhooks = useClient(WebhookService);
  const query = useQuery(
    (signal) => webhooks.getWebhook({ webhook: id }, { signal }),
    [webhooks, id],
  );
  useRepeat(query.reload, REPEAT_MS);
  const webhook = query.data?.data;
  const up = { label: "Webhooks", href: paths.webhooks({ workspace }) };
  if (query.problem?.code === Code.NotFound) {
    return (
      <Page title="Webhook" up={up}>
        <Empty
          title="There is no such webhook"
          action={
            <a class="button" href={up.href}>
              Show all webhooks
            </a>
          }
        >
          It may have been deleted.
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={webhook === undefined ? "Webhook" : new URL(webhook.url).host}
      up={up}
      note={webhook && <WebhookBadge webhook={webhook} />}
      actions={webhook && <WebhookActions webhook={webhook} changed={query.reload} />}
    >
      <Content query={query} />
    </Page>
  );
}

function Content(props: { readonly query: Query<{ readonly data?: Webhook | undefined }> }) {
  return (
    <QueryView query={props.query} quiet>
      {({ data }) =>
        data && (
          <div class="stack">
            <Details webhook={data} />
            <WebhookDeliveries webhook={data} />
          </div>
        )
      }
    </QueryView>
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
            [
              "Id",
              <>
                <code>{id}</code> <CopyButton text={id} what="id" />
              </>,
            ],
          ]}
        />
      </div>
    </Section>
  );
}
