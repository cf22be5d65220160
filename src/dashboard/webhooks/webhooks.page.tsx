import type { Webhook, WebhookAttempt, WebhookDelivery, WebhookFigures } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useIsTest, useRole } from "../api/session.ts";
import { shownWith, useRepeat, useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths, withQuery } from "../routes/paths.ts";
import { RpcActionButton } from "../ui/button.tsx";
import { Code, Id, Time } from "../ui/values.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage, Empty, Page, Section, QueryView } from "../ui/page.tsx";
import { FIRST_PAGE } from "../ui/pager.tsx";
import { type Column, ListView, rowActions, useList } from "../ui/table.tsx";
import {
  WebhookBadge,
  ALL_TYPES,
  CreateWebhook,
  WebhookActions,
  DELIVERY_STATUSES,
  DeliveryBadge,
  LastResponse,
} from "./webhook-dialogs.tsx";
import { payloadText, useEvent } from "./events.page.tsx";
import { changeQuery, useLocation } from "../routes/router.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { numberText, shareText } from "../ui/format.ts";
import "./timeline.css";

function typesText({ types }: Webhook): string {
  return types.includes(ALL_TYPES) ? "All events" : types.join(", ");
}

/** A webhook with its delivery figures, which are `undefined` while loading. */
interface Listed {
  readonly webhook: Webhook;
  readonly figures: WebhookFigures | undefined;
}

const COLUMNS: readonly Column<Listed>[] = [
  { header: "URL", selfEvident: true, cell: ({ webhook }) => webhook.url },
  { header: "State", selfEvident: true, cell: ({ webhook }) => <WebhookBadge webhook={webhook} /> },
  { header: "Events", cell: ({ webhook }) => typesText(webhook) },
  { header: "Failed, 7 days", align: "end", cell: ({ figures }) => <ErrorRate figures={figures} /> },
  { header: "Created", align: "end", spare: "first", cell: ({ webhook }) => <Time at={webhook.createdAt} /> },
];

/** Shows the share of failed attempts: `2.5% of 40`. */
function ErrorRate({ figures }: { readonly figures: WebhookFigures | undefined }) {
  if (figures === undefined || figures.attempts === 0) return <>—</>;
  const { attempts, failedAttempts } = figures;
  return (
    <>
      {shareText(failedAttempts / attempts)} <span class="minor">of {numberText(attempts)}</span>
    </>
  );
}

export function WebhooksPage() {
  const isAdmin = useRole("admin");
  const webhooks = useRpc(WebhookService.method.listWebhooks, {});
  const figures = useRpc(WebhookService.method.listWebhookFigures, {});
  const figuresOf = (id: string) => figures.data?.data.find(({ webhook }) => webhook === id);
  const shown = shownWith(webhooks, figures);
  const data = shown.data?.data.map((webhook) => ({ webhook, figures: figuresOf(webhook.id) }));
  const list = { ...shown, data: data && { data } };
  return (
    <Page title="Webhooks" actions={isAdmin && <CreateWebhook />}>
      <ListView
        query={list}
        label="Webhooks"
        columns={COLUMNS}
        keyOf={({ webhook }) => webhook.id}
        href={({ webhook }) => paths.webhook({ webhook: webhook.id })}
        empty={
          <Empty title="No webhooks yet">
            The service sends signed shipment events to your webhook’s URL and retries until they arrive.{" "}
            {!isAdmin && "Ask an admin of the workspace to add one."}
          </Empty>
        }
      />
    </Page>
  );
}

/** Reload interval of a webhook's state, in milliseconds. */
const REPEAT_MS = 5_000;

export function WebhookPage({ webhook: id }: ParametersOf<"webhook">) {
  const query = useRpc(WebhookService.method.getWebhook, { webhook: id });
  const figures = useRpc(WebhookService.method.listWebhookFigures, {});
  useRepeat(query.reload, REPEAT_MS);
  useRepeat(figures.reload, REPEAT_MS);
  return (
    <DetailPage
      query={shownWith(query, figures)}
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
          <Details webhook={webhook} figures={figures.data?.data.find((it) => it.webhook === webhook.id)} />
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
      {isMember && webhook.enabled && (
        <RpcActionButton
          primary
          method={WebhookService.method.testWebhook}
          request={{ webhook: webhook.id }}
          then={openDelivery}
        >
          Send test event
        </RpcActionButton>
      )}
      {isAdmin && <WebhookActions webhook={webhook} />}
    </>
  );
}

function Details({ webhook, figures }: Listed) {
  const { id, url, enabled, failingSince, createdAt, updatedAt } = webhook;
  return (
    <Section title="Details">
      <div class="stack">
        {!enabled && (
          <p class="problem attention">
            No events are sent to this webhook. Missed events can be sent again one by one once it is enabled.
          </p>
        )}
        <DescriptionList
          items={[
            ["URL", url],
            ["Events", typesText(webhook)],
            ["Failed, 7 days", <ErrorRate figures={figures} />],
            ["Failing since", failingSince && <Time at={failingSince} exact />],
            ["Created", <Time at={createdAt} exact />],
            ["Changed", <Time at={updatedAt} exact />],
            ["ID", <Id id={id} />],
          ]}
        />
      </div>
    </Section>
  );
}

/** Polling interval of the delivery list, in milliseconds. Delivery attempts emit no events that would refresh it. */
const DELIVERIES_REPEAT_MS = 2_000;

const OPEN = "delivery";

const FILTERS = { status: { label: "Status", choices: DELIVERY_STATUSES } } as const;

/** Lists a webhook's deliveries. Shows the attempts of the open one. */
function WebhookDeliveries({ webhook }: { readonly webhook: Webhook }) {
  const { id } = webhook;
  const { query } = useLocation();
  const status = Number(filterValues(query, FILTERS).status) || undefined;
  const list = useList(WebhookService.method.listWebhookDeliveries, { webhook: id, status }, 25);
  useRepeat(list.reload, DELIVERIES_REPEAT_MS);
  const canSend = useRole("member") && webhook.enabled;
  const open = query.get(OPEN);
  return (
    <Section title="Deliveries">
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        label="Deliveries"
        isList
        columns={canSend ? [...DELIVERY_COLUMNS, AGAIN] : DELIVERY_COLUMNS}
        href={({ id: delivery }) =>
          withQuery(location.pathname, { ...Object.fromEntries(query), [OPEN]: String(delivery) })
        }
        empty={
          status === undefined ? (
            <Empty title="No deliveries yet">
              Events are sent as they happen and listed here for 30 days. Send a test event to check that they arrive.
            </Empty>
          ) : (
            <Empty title="No deliveries match">Choose another status.</Empty>
          )
        }
      />
      {open !== null && /^\d{1,18}$/.test(open) && (
        <AttemptsDialog
          webhook={id}
          id={open}
          delivery={list.data?.data.find((delivery) => String(delivery.id) === open)}
          canSend={canSend}
        />
      )}
    </Section>
  );
}

/** Shows the number of attempts and the time of the next one, or nothing if the only attempt succeeded or failed. */
function AttemptCount({ attempts, nextAttemptAt }: WebhookDelivery) {
  if (attempts <= 1 && nextAttemptAt === undefined) return null;
  return (
    <span>
      {attempts > 0 && `${numberText(attempts)} ${attempts === 1 ? "attempt" : "attempts"}`}
      {nextAttemptAt && (
        <span class="minor">
          {attempts > 0 ? ", next" : "First attempt"} <Time at={nextAttemptAt} />
        </span>
      )}
    </span>
  );
}

const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { header: "Event", selfEvident: true, cell: ({ type }) => <code>{type}</code> },
  {
    header: "Shipment",
    cell: ({ shipment: reference }) =>
      reference === undefined ? (
        "—"
      ) : (
        <a href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>
      ),
  },
  { header: "Status", selfEvident: true, cell: ({ status }) => <DeliveryBadge status={status} /> },
  {
    header: "Last response",
    cell: (delivery) => (
      <>
        <AttemptCount {...delivery} />
        {delivery.lastDurationMs !== undefined && (
          <div class="lines">
            <LastResponse delivery={delivery} />
          </div>
        )}
      </>
    ),
  },
  { header: "Sent", spare: true, align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const AGAIN = rowActions<WebhookDelivery>((delivery) => <SendAgain delivery={delivery} />);

/** Sends a delivery's event again, and opens the new delivery. */
function SendAgain({ delivery: { webhook, event, type } }: { readonly delivery: WebhookDelivery }) {
  return (
    <RpcActionButton
      label={`Send again: ${type}`}
      method={WebhookService.method.redeliverEvent}
      request={{ webhook, event }}
      then={openDelivery}
    >
      Send again
    </RpcActionButton>
  );
}

/** Opens a new delivery, to show its response once it arrives, unless the user has left the webhook's page. */
function openDelivery({ data }: { readonly data?: WebhookDelivery }): void {
  const { id, webhook } = data!;
  if (location.pathname !== paths.webhook({ webhook })) return;
  changeQuery({ ...FIRST_PAGE, status: undefined, [OPEN]: String(id) });
}

function AttemptsDialog(props: {
  readonly webhook: string;
  readonly id: string;
  /** The delivery, or `undefined` if it is not on the list's current page. */
  readonly delivery: WebhookDelivery | undefined;
  readonly canSend: boolean;
}) {
  const { webhook, id, delivery, canSend } = props;
  const attempts = useRpc(
    WebhookService.method.listWebhookAttempts,
    { webhook, delivery: BigInt(id) },
    { version: delivery?.attempts },
  );
  return (
    <Dialog
      title={`Attempts at delivery ${id}`}
      submit="Close"
      // Replace the history entry, so that "back" does not reopen the dialog.
      close={() => changeQuery({ [OPEN]: undefined }, { replace: true })}
    >
      {delivery && (
        <p>
          <a href={paths.event({ event: delivery.event })}>
            <code>{delivery.type}</code>
          </a>{" "}
          <DeliveryBadge status={delivery.status} /> {canSend && <SendAgain delivery={delivery} />}
        </p>
      )}
      {delivery && <Sent event={delivery.event} />}
      <h3>Responses</h3>
      <QueryView query={attempts}>
        {({ data }) => (data.length === 0 ? <p>No attempts completed yet.</p> : <Attempts attempts={data} />)}
      </QueryView>
    </Dialog>
  );
}

/** Shows the payload, which is the same for all attempts, and the headers, whose time and signature differ. */
function Sent({ event }: { readonly event: string }) {
  const query = useEvent(event);
  const headers = useIsTest() ? [...SENT_HEADERS, TEST_HEADER] : SENT_HEADERS;
  return (
    <details>
      <summary>Sent</summary>
      <DescriptionList items={headers.map(([name, value]) => [<code>{name}</code>, value ?? <code>{event}</code>])} />
      <QueryView query={query}>{({ data }) => <Code text={payloadText(data)} what="payload" />}</QueryView>
    </details>
  );
}

type Header = readonly [name: string, value: string | undefined];

const TEST_HEADER: Header = ["webhook-test", "true"];
const SENT_HEADERS: readonly Header[] = [
  ["content-type", "application/json"],
  ["user-agent", "shipments-webhooks/1"],
  ["webhook-id", undefined],
  ["webhook-timestamp", "when the attempt began, as a Unix time"],
  ["webhook-signature", "v1,… signed with the webhook’s secret"],
];

function Attempts({ attempts }: { readonly attempts: readonly WebhookAttempt[] }) {
  return (
    <ol class="timeline">
      {attempts.map(({ number, startedAt, durationMs, status, error, answer }) => (
        <li key={number}>
          {status === undefined ? error : `Returned ${status}`} <Time at={startedAt} exact />
          <p class="minor">after {numberText(durationMs)} ms</p>
          {answer && <pre class="answer">{answer}</pre>}
        </li>
      ))}
    </ol>
  );
}
