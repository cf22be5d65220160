import { useEffect, useMemo, useState } from "preact/hooks";
import { EventService, type ListShipmentEventsResponse } from "../../../gen/shipments/v1/event_service_pb.js";
import {
  PaymentConnectionService,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { CourierPlace } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useLive } from "../api/live.ts";
import { shownWith, useRepeat, useRpc, type Query } from "../api/use-query.ts";
import { CoverageMap } from "../map/lazy-map.tsx";
import { pointText } from "../map/map-geometry.ts";
import { noteRecentShipment } from "./newest-shipments.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { CopyButton, Money, Time } from "../ui/values.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage, Section, QueryView, PHONE } from "../ui/page.tsx";
import { Fold } from "../ui/fold.tsx";
import { numberText } from "../ui/format.ts";
import { lazily } from "../ui/lazily.tsx";
import { ProofSection } from "./proof.tsx";
import { atEnds, ENDS, pointAt } from "./route.ts";
import { recordItems } from "./record-fields.tsx";
import { PriceTable } from "./price-table.tsx";
import { ShipmentActions } from "./shipment-actions.tsx";
import { isPaidOnline, PaymentAlert, StateBadge } from "./shipment-badge.tsx";
import { ShipmentPayment } from "./shipment-payment.tsx";
import { Stops } from "./stops.tsx";
import { Timeline } from "./shipment-timeline.tsx";
import { Button } from "../ui/button.tsx";

export function ShipmentPage({ workspace, reference }: ParametersOf<"shipment">) {
  const query = useRpc(ShipmentService.method.getShipment, { shipment: reference });
  const events = useRpc(EventService.method.listShipmentEvents, { shipment: reference, pageSize: 100 });
  const connected = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  const connection = connected.data?.data;
  const customer = query.data?.data?.customer?.name;
  useEffect(() => {
    if (customer !== undefined) noteRecentShipment(workspace, { reference, customer });
  }, [workspace, reference, customer]);
  useLive(query.reload, (event) => event.shipment === reference);
  useLive(events.reload, (event) => event.shipment === reference);
  return (
    <DetailPage
      query={shownWith(query, connected, events)}
      up={{ label: "Shipments", href: paths.shipments() }}
      what="shipment"
      fallbackTitle={reference}
      missing={`No shipment of this workspace has the reference ${reference}.`}
      note={(shipment) => <Note shipment={shipment} />}
      actions={(shipment) => <ShipmentActions shipment={shipment} isOnline={isPaidOnline({ shipment, connection })} />}
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
  const isBrought = shipment.status === ShipmentStatus.IN_TRANSIT && shipment.courier !== undefined;
  const place = useCourierPlace(shipment, isBrought);
  return (
    <div class="columns">
      <div>
        <Stops {...{ shipment, place }} />
        <ShipmentPayment shipment={shipment} connection={connection} />
        <ProofSection shipment={shipment} />
        <Details shipment={shipment} />
        <Section title="Price">
          <PriceTable price={shipment} />
        </Section>
      </div>
      <div>
        <Happened events={events} />
        <Route {...{ shipment, place }} />
      </div>
    </div>
  );
}

function Note({ shipment }: { readonly shipment: Shipment }) {
  const { reference, customer, total, currency, externalReference } = shipment;
  const endedAt = shipment.deliveredAt ?? shipment.returnedAt ?? shipment.cancelledAt;
  return (
    <>
      <CopyButton text={reference} what="reference" />
      <StateBadge {...shipment} />
      <PaymentAlert {...shipment} />
      {endedAt && (
        <span class="minor">
          <Time at={endedAt} exact />
        </span>
      )}
      <p class="minor own-line">
        <a href={paths.customer({ customer: customer!.id })}>{customer!.name}</a> ·{" "}
        <Money amount={total} currency={currency} />
        {externalReference && ` · ${externalReference}`}
      </p>
    </>
  );
}

/** Poll interval of the courier's location, in milliseconds. */
const POLL_MS = 10_000;

/** Polls the courier's location for a shipment in transit. `undefined` if unknown. */
function useCourierPlace(shipment: Shipment, isEnabled: boolean): CourierPlace | undefined {
  const { data, problem, reload } = useRpc(
    ShipmentService.method.getCourierPlace,
    isEnabled ? { shipment: shipment.reference } : undefined,
  );
  useRepeat(isEnabled ? reload : undefined, POLL_MS);
  return problem?.reason === "PLACE_NOT_FOUND" ? undefined : data?.data;
}

function Route({ shipment, place }: { readonly shipment: Shipment; readonly place: CourierPlace | undefined }) {
  const [isOpen, setOpen] = useState(!PHONE.matches);
  const ends = atEnds((end) => pointAt(shipment, end));
  // Move the map to the courier once. Afterwards the map stays where the user moved it.
  const inView = useMemo(() => place && [place], [place === undefined]);
  return (
    <Section title="Route" actions={!isOpen && <Button onClick={() => setOpen(true)}>Show map</Button>}>
      {isOpen && <CoverageMap label="Route of the shipment" {...ends} inView={inView} courier={place} />}
    </Section>
  );
}

function Details({ shipment }: { readonly shipment: Shipment }) {
  const notes = Object.entries(shipment.metadata);
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["Customer’s email", shipment.customer?.email],
          ...recordItems(shipment),
          [
            "Tracking",
            shipment.trackingUrl && (
              <>
                <a href={shipment.trackingUrl} target="_blank" rel="noreferrer">
                  Page for the recipient
                </a>{" "}
                <CopyButton text={shipment.trackingUrl} what="tracking link" />
              </>
            ),
          ],
          ["Booked", <Time at={shipment.createdAt} exact />],
          ["Booked by", shipment.createdBy ?? "API"],
        ]}
      />
      {shipment.items.length > 0 && (
        <div class="note">
          <h3>Items</h3>
          <ul>
            {shipment.items.map(({ name, quantity, externalId }) => (
              <li>
                {numberText(quantity)} × {name} {externalId && <span class="minor">{externalId}</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
      {notes.length > 0 && (
        <div class="note">
          <h3>Notes</h3>
          <DescriptionList items={notes} />
        </div>
      )}
      <div class="note">
        <Fold summary="Coordinates">{ENDS.map((end) => pointText(pointAt(shipment, end))).join(" → ")}</Fold>
      </div>
    </Section>
  );
}

const ShipmentDeliveries = lazily(() => import("./shipment-deliveries.tsx"), "ShipmentDeliveries");

/** Shows the shipment's events and, on request, their webhook deliveries. */
function Happened({ events }: { readonly events: Query<ListShipmentEventsResponse> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title="Timeline"
      actions={
        isOpen ? (
          <a href={paths.webhooks()}>All webhooks</a>
        ) : (
          <Button onClick={() => setOpen(true)}>Show webhook deliveries</Button>
        )
      }
    >
      <QueryView query={events}>{({ data }) => <Timeline events={data} />}</QueryView>
      {isOpen && (
        <div class="note">
          <h3>Webhook deliveries</h3>
          <ShipmentDeliveries events={events.data?.data ?? []} />
        </div>
      )}
    </Section>
  );
}
