import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { getDocument } from "../api/documents.ts";
import { useWorkspace } from "../api/session.ts";
import { type Query, useQuery, useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { Code, Id, Time } from "../ui/values.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { Filters, filterValues } from "../ui/filters.tsx";
import { apiKeyText } from "../ui/format.ts";
import { DetailPage, Empty, Page, Section } from "../ui/page.tsx";
import { PAGE_TOKEN, usePageToken } from "../ui/pager.tsx";
import { type Column, ListView, Table } from "../ui/table.tsx";
import { TYPE_CHOICES } from "./event-types.ts";
import { payloadChanges } from "./payload-changes.ts";

const FILTERS = {
  type: { label: "Type", choices: TYPE_CHOICES },
  subject: { label: "Shipment or webhook", placeholder: "SHP-… or wh_…" },
} as const;

const COLUMNS: readonly Column<Event>[] = [
  { header: "Type", selfEvident: true, cell: ({ type }) => <code>{type}</code> },
  {
    header: FILTERS.subject.label,
    selfEvident: true,
    cell: ({ shipment: reference, webhook }) =>
      reference === undefined ? (
        <a href={paths.webhook({ webhook: webhook!.id })}>
          <code>{webhook!.id}</code>
        </a>
      ) : (
        <a href={paths.shipment({ reference })}>
          <code>{reference}</code>
        </a>
      ),
  },
  {
    header: "By",
    spare: true,
    clips: true,
    cell: ({ actor, apiKey, courier }) =>
      actor ??
      courier?.name ?? <span class="minor">{apiKey ? apiKeyText(apiKey.name ?? apiKey.last4) : "Service"}</span>,
  },
  { header: "When", align: "end", selfEvident: true, cell: ({ timestamp }) => <Time at={timestamp} /> },
];

export function EventsPage() {
  const { query } = useLocation();
  const { type, subject } = filterValues(query, FILTERS);
  const events = useRpc(EventService.method.listEvents, {
    newestFirst: true,
    after: usePageToken(),
    types: type === undefined || type === "" ? [] : [type],
    subject: subject || undefined,
    pageSize: 50,
  });
  const page = events.data && {
    data: events.data.data,
    nextPageToken: events.data.hasMore ? events.data.cursor : "",
  };
  return (
    <Page title="Events">
      <Filters fields={FILTERS} />
      <ListView
        query={{ ...events, data: page }}
        label="Events"
        isList
        columns={COLUMNS}
        href={({ id }) => paths.event({ event: id })}
        opened={{
          hrefOf: (id) => paths.event({ event: id }),
          view: (id) => <EventPage event={id} />,
        }}
        empty={<NoEvents isFiltered={Boolean(type || subject)} older={page?.nextPageToken} />}
      />
    </Page>
  );
}

function NoEvents({ isFiltered, older }: { readonly isFiltered: boolean; readonly older: string | undefined }) {
  const { query } = useLocation();
  if (!isFiltered) {
    return <Empty title="No events yet">Shipment events are listed here and sent to webhooks.</Empty>;
  }
  if (older) {
    const further = { ...Object.fromEntries(query), [PAGE_TOKEN]: older };
    const link = { label: "Search older events", href: paths.events({}, further) };
    return <Empty title="No matches in the next 1,000 events" link={link} />;
  }
  return (
    <Empty title="No events match" link={{ label: "Show all events", href: paths.events() }}>
      Enter a shipment’s reference or a webhook’s ID.
    </Empty>
  );
}

/** Fields of an event's payload that the page shows. */
interface Payload {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly shipment: string | null;
  readonly webhook: { readonly id: string; readonly url: string } | null;
  readonly actor: string | null;
  readonly api_key: { readonly name: string | null; readonly last4: string } | null;
  /** The shipment as of the event. */
  readonly data: unknown;
}

/** Loads an event in the form sent to webhooks. */
export function useEvent(event: string): Query<{ readonly data: Payload }> {
  const { id: workspace } = useWorkspace();
  return useQuery(
    async (signal) => {
      const path = `/v1/events/${encodeURIComponent(event)}`;
      return JSON.parse(await getDocument(path, signal, workspace)) as { readonly data: Payload };
    },
    [workspace, event],
  );
}

export function payloadText(payload: object): string {
  return JSON.stringify(payload, undefined, 2);
}

export function EventPage({ event }: Pick<ParametersOf<"event">, "event">) {
  return (
    <DetailPage
      query={useEvent(event)}
      up={{ label: "Events", href: paths.events() }}
      what="event"
      title={({ type }) => type}
      fallbackTitle="Event"
      missing="It may be past the retention period."
    >
      {(payload) => (
        <div class="stack">
          <Section title="Details">
            <Details payload={payload} />
          </Section>
          <Changes payload={payload} />
          <Section title="Payload">
            <Code text={payloadText(payload)} what="payload" />
          </Section>
        </div>
      )}
    </DetailPage>
  );
}

/** Id of a shipment's event: its reference and the number of the event. */
const EVENT_ID = /^(evt_SHP-\w+_)(\d+)$/;

/** Compares the shipment with the one in its previous event. */
function Changes({ payload }: { readonly payload: Payload }) {
  const [, ofShipment = "", number = "0"] = EVENT_ID.exec(payload.id) ?? [];
  return Number(number) > 1 ? <ChangesSince event={`${ofShipment}${Number(number) - 1}`} payload={payload} /> : null;
}

function ChangesSince({ event, payload }: { readonly event: string; readonly payload: Payload }) {
  const { data: before } = useEvent(event).data ?? {};
  const rows = before === undefined ? [] : payloadChanges(before.data, payload.data);
  if (before === undefined || rows.length === 0) return null;
  return (
    <Section title="Changes" actions={<a href={paths.event({ event })}>since {before.type}</a>}>
      <Table label="Changes" columns={CHANGE_COLUMNS} rows={rows} keyOf={({ field }) => field} />
    </Section>
  );
}

const CHANGE_COLUMNS: readonly Column<ReturnType<typeof payloadChanges>[number]>[] = [
  { header: "Field", selfEvident: true, cell: ({ field }) => <code>{field}</code> },
  { header: "Before", cell: ({ before = "—" }) => <code>{before}</code> },
  { header: "After", cell: ({ after = "—" }) => <code>{after}</code> },
];

function Details({ payload }: { readonly payload: Payload }) {
  const { id, timestamp, shipment: reference, webhook, actor, api_key: key } = payload;
  return (
    <DescriptionList
      items={[
        ["When", <Time at={new Date(timestamp)} exact="second" />],
        [
          "Shipment",
          reference === null ? undefined : (
            <a href={paths.shipment({ reference })}>
              <code>{reference}</code>
            </a>
          ),
        ],
        ["Webhook", webhook ? <a href={paths.webhook({ webhook: webhook.id })}>{webhook.url}</a> : undefined],
        ["By", actor ?? (key ? apiKeyText(key.name ?? key.last4) : "An API key or the service")],
        ["ID", <Id id={id} />],
      ]}
    />
  );
}
