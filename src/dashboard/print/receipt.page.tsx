import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { PaymentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { PriceTable } from "../shipments/quote.tsx";
import { isPaid } from "../shipments/shipment-badge.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { type Instant, numberText } from "../ui/format.ts";
import { Empty } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Money, Time } from "../ui/values.tsx";
import { PrintPage } from "./print-page.tsx";

export function ReceiptPage({ reference }: ParametersOf<"receipt">) {
  const shipments = useClient(ShipmentService);
  const feed = useClient(EventService);
  const query = useQuery(
    async (signal) => {
      const [{ data: shipment }, { data: events }] = await Promise.all([
        shipments.getShipment({ shipment: reference }, { signal }),
        feed.listShipmentEvents({ shipment: reference, pageSize: 100 }, { signal }),
      ]);
      return { shipment: shipment!, paidAt: events.find(isPayment)?.timestamp };
    },
    [shipments, feed, reference],
  );
  const up = { label: reference, href: paths.shipment({ reference }) };
  return (
    <PrintPage
      title="Receipt"
      up={up}
      sheets={
        <QueryView query={query}>
          {({ shipment, paidAt }) =>
            isPaid(shipment) ? (
              <Receipt shipment={shipment} paidAt={paidAt} />
            ) : (
              <Empty title="Nothing is paid yet" link={{ ...up, label: "Show the shipment" }}>
                There is a receipt once the shipment is paid.
              </Empty>
            )
          }
        </QueryView>
      }
    />
  );
}

function isPayment({ type }: { readonly type: string }): boolean {
  return type === "shipment.paid";
}

function Receipt(props: { readonly shipment: Shipment; readonly paidAt: Instant | undefined }) {
  const { shipment, paidAt } = props;
  const { customer, total, currency, paymentDetails, paymentStatus } = shipment;
  const { refundedAmount = 0, disputedAmount = 0 } = paymentDetails ?? {};
  // Of what is not refunded a part may be all the same; what was recorded by hand is no provider's.
  const refunded =
    paymentStatus === PaymentStatus.REFUNDED
      ? Number((total - disputedAmount).toFixed(4))
      : refundedAmount;
  return (
    <article class="sheet receipt">
      <h2>{useWorkspace()?.name}</h2>
      <DescriptionList
        items={[
          ["Receipt for", shipment.reference],
          ["Your reference", shipment.externalReference],
          ["Customer", customer && `${customer.name}, ${customer.email}`],
          ["Booked", <Time at={shipment.createdAt} exact />],
          ["Paid", paidAt && <Time at={paidAt} exact />],
          ["From", shipment.pickupAddress],
          ["To", shipment.dropoffAddress],
          ["Distance", `${numberText(shipment.distanceKm)} km`],
          ["Weight", `${numberText(shipment.weightKg)} kg`],
        ]}
      />
      <PriceTable price={shipment} />
      <p class="receipt-paid">
        <Money amount={total} currency={currency} /> paid
        {refunded > 0 && (
          <>
            , <Money amount={refunded} currency={currency} /> refunded
          </>
        )}
        {disputedAmount > 0 && (
          <>
            , <Money amount={disputedAmount} currency={currency} /> taken back by the bank
          </>
        )}
        {paymentStatus === PaymentStatus.REFUND_PENDING &&
          (refunded + disputedAmount > 0 ? ", the rest to be refunded" : ", to be refunded")}
        .
      </p>
      {shipment.test && <p class="label-test">Test. No money was taken.</p>}
    </article>
  );
}
