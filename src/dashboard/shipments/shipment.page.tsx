import { useEffect, useState } from "preact/hooks";
import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import {
  EventService,
  type ListShipmentEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import {
  PaymentConnectionService,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { AcceptedWindow } from "../../../gen/shipments/v1/window_pb.js";
import { useLive } from "../api/live.ts";
import { useRpc, type Query, useQuery } from "../api/use-query.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import { noteRecentShipment } from "./newest-shipments.ts";
import { type ParametersOf, labelsHref, paths } from "../routes/paths.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage, Section } from "../ui/page.tsx";
import { numberText } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Time } from "../ui/values.tsx";
import { EVENT_TYPES, DeliveryBadge, LastAnswer } from "../webhooks/webhook-dialogs.tsx";
import { shipmentTextItems } from "./shipment-texts.tsx";
import { PriceTable } from "./quote.tsx";
import { ShipmentActions } from "./shipment-actions.tsx";
import { CANCEL_REASONS, isPaid, PaymentAlert, StateBadge } from "./shipment-badge.tsx";
import { windowOf, windowText } from "./windows.ts";
import { isPaidOnline, ShipmentPayment } from "./shipment-payment.tsx";
import type { Webhook, WebhookDelivery } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { Button } from "../ui/button.tsx";
import { type Column, Table } from "../ui/table.tsx";
import "../webhooks/timeline.css";

export function ShipmentPage(props: ParametersOf<"shipment">) {
  const { workspace, reference } = props;
  const query = useRpc(ShipmentService.method.getShipment, { shipment: reference });
  const events = useRpc(EventService.method.listShipmentEvents, {
    shipment: reference,
    pageSize: 100,
  });
  const connection = useRpc(PaymentConnectionService.method.getPaymentConnection, {}).data?.data;
  const reload = () => {
    query.reload();
    events.reload();
  };
  const customer = query.data?.data?.customer?.name;
  useEffect(() => {
    if (customer !== undefined) noteRecentShipment(workspace, { reference, customer });
  }, [workspace, reference, customer]);
  useLive(reload, (event) => event.shipment === reference);
  return (
    <DetailPage
      query={query}
      up={{ label: "Shipments", href: paths.shipments() }}
      what="shipment"
      title={() => reference}
      fallbackTitle={reference}
      missing={`No shipment of this workspace has the reference ${reference}.`}
      note={(shipment) => <Note shipment={shipment} />}
      actions={(shipment) => (
        <ShipmentActions shipment={shipment} isOnline={isPaidOnline({ shipment, connection })}>
          <Menu label="Print">
            <a class="button quiet" href={labelsHref([shipment])}>
              Label
            </a>
            {isPaid(shipment) && (
              <a class="button quiet" href={paths.receipt({ reference })}>
                Receipt
              </a>
            )}
          </Menu>
        </ShipmentActions>
      )}
    >
      {(shipment) => <Shown {...{ shipment, connection, events }} />}
    </DetailPage>
  );
}

function Shown(props: {
  readonly shipment: Shipment;
  readonly connection: PaymentConnection | undefined;
  readonly events: Query<ListShipmentEventsResponse>;
}) {
  const { shipment, connection, events } = props;
  return (
    <>
      {/* Before the map, which is high: money may need a hand. */}
      <ShipmentPayment shipment={shipment} connection={connection} />
      <div class="columns">
        <div>
          <Route shipment={shipment} />
          <Details shipment={shipment} />
        </div>
        <div>
          <Section title="Price">
            <PriceTable price={shipment} />
          </Section>
          <Section title="Timeline">
            <QueryView query={events}>
              {({ data }) => <Timeline events={data.toReversed()} />}
            </QueryView>
          </Section>
          <ShipmentDeliveries events={events.data?.data ?? []} />
        </div>
      </div>
    </>
  );
}

function Note({ shipment }: { readonly shipment: Shipment }) {
  return (
    <>
      <CopyButton text={shipment.reference} what="reference" />
      <StateBadge {...shipment} />
      <PaymentAlert {...shipment} />
    </>
  );
}

function Route({ shipment }: { readonly shipment: Shipment }) {
  const pickup = { lat: shipment.pickupLat, lng: shipment.pickupLng };
  const dropoff = { lat: shipment.dropoffLat, lng: shipment.dropoffLng };
  const { pickupWindow, dropoffWindow } = shipment;
  return (
    <Section title="Route">
      <CoverageMap label="Route of the shipment" pickup={pickup} dropoff={dropoff} />
      <DescriptionList
        items={[
          ["From", <Place address={shipment.pickupAddress} {...pickup} />],
          ["Pickup time", pickupWindow && <WindowTime window={pickupWindow} />],
          ["To", <Place address={shipment.dropoffAddress} {...dropoff} />],
          ["Dropoff time", dropoffWindow && <WindowTime window={dropoffWindow} />],
          ["Distance", `${numberText(shipment.distanceKm)} km`],
          ["Weight", `${numberText(shipment.weightKg)} kg`],
        ]}
      />
    </Section>
  );
}

function Place(props: { readonly address: string; readonly lat: number; readonly lng: number }) {
  return (
    <>
      {props.address}
      <br />
      <span class="minor">
        {props.lat}, {props.lng}
      </span>
    </>
  );
}

function WindowTime(props: { readonly window: AcceptedWindow }) {
  const window = windowOf(props.window);
  const [there, here] = [windowText(window, props.window.timeZone), windowText(window)];
  return (
    <>
      {there}
      {here !== there && (
        <>
          <br />
          <span class="minor">{here} your time</span>
        </>
      )}
    </>
  );
}

function Details({ shipment }: { readonly shipment: Shipment }) {
  const { customer, cancelReason, cancelledAt } = shipment;
  const notes = Object.entries(shipment.metadata);
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          [
            "Customer",
            customer && (
              <>
                <a href={paths.customer({ customer: customer.id })}>{customer.name}</a>{" "}
                <span class="minor">{customer.email}</span>
              </>
            ),
          ],
          ...shipmentTextItems(shipment),
          ["Booked", <Time at={shipment.createdAt} exact />],
          ["Booked by", shipment.createdBy ?? "API"],
          ["Changed", <Time at={shipment.updatedAt} exact />],
          ["Cancelled", cancelledAt && <Time at={cancelledAt} exact />],
          ["Reason", cancelReason && CANCEL_REASONS[cancelReason]],
          ["Note", shipment.cancelNote],
        ]}
      />
      {notes.length > 0 && (
        <div class="note">
          <h3>Notes</h3>
          <DescriptionList items={notes} />
        </div>
      )}
    </Section>
  );
}

const EVENT_NAMES: ReadonlyMap<string, string> = new Map(EVENT_TYPES);

function Timeline({ events }: { readonly events: readonly Event[] }) {
  return (
    <ol class="timeline">
      {events.map(({ id, type, timestamp, actor }) => (
        <li key={id}>
          <span>{EVENT_NAMES.get(type) ?? type}</span> <Time at={timestamp} exact />
          {actor && <p class="minor">{actor}</p>}
        </li>
      ))}
    </ol>
  );
}

/** How many of the newest deliveries of each webhook are searched: those of one call. */
const NEWEST = 100;

interface Sent {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook;
}

/**
 * What was sent to webhooks about a shipment. Deliveries are listed by webhook and not by shipment, so
 * they are looked for only when the reader asks, among the newest of each webhook.
 */
function ShipmentDeliveries(props: { readonly events: readonly Event[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title="Webhook deliveries"
      actions={
        isOpen ? (
          <a href={paths.webhooks()}>All webhooks</a>
        ) : (
          <Button onClick={() => setOpen(true)}>Look for deliveries</Button>
        )
      }
    >
      {isOpen && <Found {...props} />}
    </Section>
  );
}

function Found({ events }: { readonly events: readonly Event[] }) {
  const webhooks = useClient(WebhookService);
  const query = useQuery(
    async (signal) => {
      const { data } = await webhooks.listWebhooks({}, { signal });
      const lists = data.map(async (webhook) => {
        const request = { webhook: webhook.id, pageSize: NEWEST };
        const { data: newest } = await webhooks.listWebhookDeliveries(request, { signal });
        return newest.map((delivery): Sent => ({ delivery, webhook }));
      });
      return (await Promise.all(lists)).flat();
    },
    // What happens next to the shipment is sent as well.
    [webhooks, events.length],
  );
  return (
    <QueryView query={query}>
      {(newest) => {
        const ids = new Set(events.map(({ id }) => id));
        const sent = newest.filter(({ delivery }) => ids.has(delivery.event));
        return sent.length === 0 ? (
          <p class="minor">
            None is among the newest {NEWEST} deliveries of each webhook. A webhook&apos;s own page
            lists all of the last 30 days.
          </p>
        ) : (
          <>
            <Table
              label="Webhook deliveries"
              columns={COLUMNS}
              rows={sent}
              keyOf={({ delivery }) => String(delivery.id)}
              href={({ delivery, webhook }) =>
                paths.webhook({ webhook: webhook.id }, { delivery: String(delivery.id) })
              }
            />
            <p class="hint note">Among the newest {NEWEST} deliveries of each webhook.</p>
          </>
        );
      }}
    </QueryView>
  );
}

const COLUMNS: readonly Column<Sent>[] = [
  { header: "Event", selfEvident: true, cell: ({ delivery }) => <code>{delivery.type}</code> },
  {
    header: "Status",
    selfEvident: true,
    cell: ({ delivery }) => <DeliveryBadge status={delivery.status} />,
  },
  { header: "Last answer", cell: ({ delivery }) => <LastAnswer delivery={delivery} /> },
  { header: "To", cell: ({ webhook }) => webhook.url },
  { header: "Sent", align: "end", cell: ({ delivery }) => <Time at={delivery.createdAt} /> },
];
