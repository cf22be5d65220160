import type {
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
} from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useRole } from "../api/session.ts";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { paths, withQuery } from "../routes/paths.ts";
import { changeQuery, usePlace } from "../routes/router.ts";
import { RpcActionButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { numberText } from "../ui/format.ts";
import { ListView, useList } from "../ui/list-view.tsx";
import { Empty, Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { DELIVERY_STATUSES, DeliveryBadge, LastAnswer } from "./webhook-badge.tsx";
import "./timeline.css";

/** How often the deliveries are loaded anew, in milliseconds: no event tells of an attempt. */
const REPEAT_MS = 2_000;

const OPEN = "delivery";

const FILTERS = { status: { label: "Status", choices: DELIVERY_STATUSES } } as const;

/** What was and is being sent to a webhook, with the attempts at what is opened. */
export function WebhookDeliveries({ webhook }: { readonly webhook: Webhook }) {
  const { id } = webhook;
  const { query } = usePlace();
  const status = Number(filterValues(query, FILTERS).status) || undefined;
  const list = useList(WebhookService.method.listWebhookDeliveries, { webhook: id, status }, 25);
  useRepeat(list.reload, REPEAT_MS);
  const canSend = useRole("member") && webhook.enabled;
  const open = query.get(OPEN);
  return (
    <Section title="Deliveries">
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        quiet
        label="Deliveries"
        columns={canSend ? [...COLUMNS, AGAIN] : COLUMNS}
        href={({ id: delivery }) =>
          withQuery(location.pathname, { ...Object.fromEntries(query), [OPEN]: String(delivery) })
        }
        empty={
          status === undefined ? (
            <Empty title="Nothing was sent yet">
              Events are sent as they happen, and kept here for 30 days. A test event shows whether
              they arrive.
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
        />
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { header: "Event", selfEvident: true, cell: ({ type }) => <code>{type}</code> },
  {
    header: "Shipment",
    cell: ({ shipment: reference }) =>
      reference === undefined ? (
        "—"
      ) : (
        <a class="above" href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>
      ),
  },
  {
    header: "Status",
    selfEvident: true,
    cell: ({ status }) => <DeliveryBadge status={status} />,
  },
  { header: "Last answer", cell: (delivery) => <LastAnswer delivery={delivery} /> },
  {
    header: "Attempts",
    align: "end",
    cell: ({ attempts, nextAttemptAt }) => (
      <>
        {numberText(attempts)}
        {nextAttemptAt && (
          <span class="minor">
            , next <Time at={nextAttemptAt} />
          </span>
        )}
      </>
    ),
  },
  { header: "Sent", align: "end", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

const AGAIN: Column<WebhookDelivery> = {
  header: "Actions",
  align: "end",
  selfEvident: true,
  cell: ({ webhook, event, type }) => (
    <span class="row-actions">
      <RpcActionButton
        label={`Send again: ${type}`}
        method={WebhookService.method.redeliverEvent}
        request={{ webhook, event }}
        done="The event is sent again."
      >
        Send again
      </RpcActionButton>
    </span>
  ),
};

function AttemptsDialog(props: {
  readonly webhook: string;
  readonly id: string;
  /** Undefined when it is not on the page of the list. */
  readonly delivery: WebhookDelivery | undefined;
}) {
  const { webhook, id, delivery } = props;
  const attempts = useRpc(
    WebhookService.method.listWebhookAttempts,
    {
      webhook,
      delivery: BigInt(id),
    },
    { version: delivery?.attempts },
  );
  return (
    <Dialog
      title={`Attempts at delivery ${id}`}
      submit="Close"
      // The way back does not open it again.
      close={() => changeQuery({ [OPEN]: undefined }, { replace: true })}
    >
      {delivery && (
        <p>
          <code>{delivery.type}</code> <DeliveryBadge status={delivery.status} />
          <br />
          <code class="minor">{delivery.event}</code>
        </p>
      )}
      <QueryView query={attempts}>
        {({ data }) =>
          data.length === 0 ? <p>No attempt has ended yet.</p> : <Attempts attempts={data} />
        }
      </QueryView>
    </Dialog>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly WebhookAttempt[] }) {
  return (
    <ol class="timeline">
      {attempts.map(({ number, startedAt, durationMs, status, error, answer }) => (
        <li key={number}>
          {status === undefined ? error : `Answered ${status}`} <Time at={startedAt} exact />
          <p class="minor">after {numberText(durationMs)} ms</p>
          {answer && <pre class="answer">{answer}</pre>}
        </li>
      ))}
    </ol>
  );
}
