import type { Event } from "../../../gen/shipments/v1/event_pb.js";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery } from "../api/use-query.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import { paths } from "../routes/paths.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { numberText } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Time } from "../ui/values.tsx";
import { EVENT_TYPES } from "../webhooks/webhook-dialogs.tsx";
import { PriceTable } from "./quote.tsx";
import { ShipmentActions } from "./shipment-actions.tsx";
import { CANCEL_REASONS, PaymentBadge, ShipmentBadge } from "./shipment-badge.tsx";
import { ShipmentDeliveries } from "./shipment-deliveries.tsx";
import "../webhooks/timeline.css";

/** One shipment: its route, price and customer, and what happened to it. */
export function ShipmentPage(props: { readonly workspace: string; readonly reference: string }) {
  const { workspace, reference } = props;
  const shipments = useClient(ShipmentService);
  const query = useQuery(
    (signal) => shipments.getShipment({ shipment: reference }, { signal }),
    [shipments, reference],
  );
  const feed = useClient(EventService);
  const events = useQuery(
    (signal) => feed.listShipmentEvents({ shipment: reference, pageSize: 100 }, { signal }),
    [feed, reference],
  );
  const reload = () => {
    query.reload();
    events.reload();
  };
  useLive(reload, (event) => event.shipment === reference);
  return (
    <DetailPage
      query={query}
      up={{ label: "Shipments", href: paths.shipments({ workspace }) }}
      what="shipment"
      title={() => reference}
      fallbackTitle={reference}
      missing={`No shipment of this workspace has the reference ${reference}.`}
      note={(shipment) => <Note shipment={shipment} />}
      actions={(shipment) => <ShipmentActions shipment={shipment} changed={reload} />}
    >
      {(shipment) => (
        <div class="columns">
          <div>
            <Route shipment={shipment} />
            <Details shipment={shipment} workspace={workspace} />
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
            <ShipmentDeliveries workspace={workspace} events={events.data?.data ?? []} />
          </div>
        </div>
      )}
    </DetailPage>
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
