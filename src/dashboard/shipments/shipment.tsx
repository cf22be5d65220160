import { Code } from "@connectrpc/connect";
import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import {
  EventService,
  type ListShipmentEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { PriceTable } from "./price-table.tsx";
import { CANCEL_REASONS, PaymentBadge, ShipmentBadge } from "./shipment-badge.tsx";
import { Time } from "../ui/values.tsx";
import { Timeline, type TimelineEntry } from "./timeline.tsx";
import { paths } from "../routes/paths.ts";
import { ShipmentActions } from "./shipment-actions.tsx";
import { ShipmentDeliveries } from "./shipment-deliveries.tsx";

/** One shipment: its route, price and customer, and what happened to it. */
export function ShipmentPage(props: { readonly workspace: string; readonly reference: string }) {
  const { workspace, reference } = props;
  const shipments = useClient(ShipmentService);
  const query = useQuery(
    (signal) => shipments.getShipment({ shipment: reference }, { signal }),
    [shipments, reference],
  );
  const events = useEvents(reference);
  const reload = () => {
    query.reload();
    events.reload();
  };
  useLive(reload, (event) => event.shipment === reference);
  const shipment = query.data?.data;
  const up = { label: "Shipments", href: paths.shipments({ workspace }) };
  if (query.problem?.code === Code.NotFound) {
    return (
      <Page title={reference} up={up}>
        <Empty
          title="There is no such shipment"
          action={
            <a class="button" href={up.href}>
              Show all shipments
            </a>
          }
        >
          No shipment of this workspace has the reference {reference}.
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={reference}
      up={up}
      note={shipment && <Note shipment={shipment} />}
      actions={shipment && <ShipmentActions shipment={shipment} changed={reload} />}
    >
      <QueryView query={query}>
        {({ data }) =>
          data && (
            <div class="columns">
              <div>
                <Route shipment={data} />
                <Details shipment={data} workspace={workspace} />
              </div>
              <div>
                <Price shipment={data} />
                <Events query={events} />
                <ShipmentDeliveries workspace={workspace} events={events.data?.data ?? []} />
              </div>
            </div>
          )
        }
      </QueryView>
    </Page>
  );
}

function Note({ shipment }: { readonly shipment: Shipment }) {
  return (
    <>
      <CopyButton text={shipment.reference} what="reference" />
      <ShipmentBadge status={shipment.status} />
      <PaymentBadge status={shipment.paymentStatus} />
    </>
  );
}

function Route({ shipment }: { readonly shipment: Shipment }) {
  const pickup = { lat: shipment.pickupLat, lng: shipment.pickupLng };
  const dropoff = { lat: shipment.dropoffLat, lng: shipment.dropoffLng };
  return (
    <Section title="Route">
      <CoverageMap label="Route of the shipment" pickup={pickup} dropoff={dropoff} />
      <DescriptionList
        items={[
          ["From", <Place address={shipment.pickupAddress} {...pickup} />],
          ["To", <Place address={shipment.dropoffAddress} {...dropoff} />],
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

function Details(props: { readonly shipment: Shipment; readonly workspace: string }) {
  const { shipment, workspace } = props;
  const { customer, cancelReason, cancelledAt } = shipment;
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          [
            "Customer",
            customer && (
              <>
                <a href={paths.customer({ workspace, customer: customer.id })}>{customer.name}</a>{" "}
                <span class="minor">{customer.email}</span>
              </>
            ),
          ],
          ["External reference", shipment.externalReference],
          ["Booked", <Time at={shipment.createdAt} exact />],
          ["Booked by", shipment.createdBy ?? "API"],
          ["Changed", <Time at={shipment.updatedAt} exact />],
          ["Cancelled", cancelledAt && <Time at={cancelledAt} exact />],
          ["Reason", cancelReason && CANCEL_REASONS[cancelReason]],
          ["Note", shipment.cancelNote],
          ...Object.entries(shipment.metadata),
        ]}
      />
    </Section>
  );
}

function Price({ shipment }: { readonly shipment: Shipment }) {
  return (
    <Section title="Price">
      <PriceTable price={shipment} />
    </Section>
  );
}

/** What each type of event says. */
const EVENT_TEXTS: Readonly<Record<string, string>> = {
  "shipment.created": "Booked",
  "shipment.updated": "Changed",
  "shipment.paid": "Paid",
  "shipment.awaiting_pickup": "Ready for pickup",
  "shipment.in_transit": "Picked up",
  "shipment.delivered": "Delivered",
  "shipment.cancelled": "Cancelled",
  "shipment.refunded": "Refunded",
};

/** What happened to a shipment. */
function useEvents(reference: string): Query<ListShipmentEventsResponse> {
  const events = useClient(EventService);
  return useQuery(
    (signal) => events.listShipmentEvents({ shipment: reference, pageSize: 100 }, { signal }),
    [events, reference],
  );
}

function Events({ query }: { readonly query: Query<ListShipmentEventsResponse> }) {
  return (
    <Section title="Timeline">
      <QueryView query={query}>
        {({ data }) => <Timeline entries={data.toReversed().map(entryOf)} />}
      </QueryView>
    </Section>
  );
}

function entryOf({ id, type, timestamp, actor }: Event): TimelineEntry {
  return { key: id, title: EVENT_TEXTS[type] ?? type, at: timestamp, detail: actor };
}
