import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { Empty, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { recordIdOf } from "../ui/format.ts";
import { DetailPage } from "../ui/detail-page.tsx";
import { usePageToken } from "../ui/pager.tsx";
import { ShipmentList } from "../shipments/shipment-list.tsx";
import { paths } from "../routes/paths.ts";

interface Props {
  readonly workspace: string;
  /** The customer's number. */
  readonly customer: string;
}

/** One customer with the shipments that were booked for them, the newest first. */
export function CustomerPage({ workspace, customer: number }: Props) {
  const customers = useClient(CustomerService);
  // No customer has the number 0: an address that names none is answered like one of a stranger.
  const id = recordIdOf(number) ?? 0n;
  const query = useQuery(
    (signal) => customers.getCustomer({ customer: id }, { signal }),
    [customers, id],
  );
  const shipments = useClient(ShipmentService);
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) => shipments.listShipments({ customerId: id, pageToken, pageSize: 25 }, { signal }),
    [shipments, id, pageToken],
  );
  useLive(list.reload, ({ data }) => data?.customer?.id === id);
  const mayBook = hasRole(useWorkspace(), "member");
  return (
    <DetailPage
      query={query}
      up={{ label: "Customers", href: paths.customers({ workspace }) }}
      what="customer"
      title={({ name }) => name}
      fallbackTitle={`Customer ${number}`}
      missing={`No customer of this workspace has the number ${number}.`}
      actions={() =>
        mayBook && (
          <a class="button primary" href={paths.book({ workspace }, { customer: number })}>
            Book for this customer
          </a>
        )
      }
    >
      {(customer) => (
        <>
          <Details customer={customer} />
          <section class="page-part" aria-label="Shipments">
            <h2>Shipments</h2>
            <ShipmentList
              workspace={workspace}
              query={list}
              ofOneCustomer
              empty={
                <Empty title="No shipments">
                  No shipment is booked for this customer any more.
                </Empty>
              }
            />
          </section>
        </>
      )}
    </DetailPage>
  );
}

function Details({ customer: { id, email, idNumber } }: { readonly customer: Customer }) {
  return (
    <Section title="Details">
      <DescriptionList
        items={[
          ["Email", <a href={`mailto:${email}`}>{email}</a>],
          ["Id number", idNumber],
          ["Number", String(id)],
        ]}
      />
    </Section>
  );
}
