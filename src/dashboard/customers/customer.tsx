import { Code } from "@connectrpc/connect";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { Empty, Page, Section } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { recordIdOf } from "../ui/format.ts";
import { QueryView } from "../ui/query-view.tsx";
import { Pager, usePageToken } from "../ui/pager.tsx";
import { ShipmentTable } from "../shipments/shipment-table.tsx";
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
  const mayBook = hasRole(useWorkspace(), "member");
  const up = { label: "Customers", href: paths.customers({ workspace }) };
  if (query.problem?.code === Code.NotFound) {
    return (
      <Page title={`Customer ${number}`} up={up}>
        <Empty
          title="There is no such customer"
          action={
            <a class="button" href={up.href}>
              Show all customers
            </a>
          }
        >
          No customer of this workspace has the number {number}.
        </Empty>
      </Page>
    );
  }
  const customer = query.data?.data;
  return (
    <Page
      title={customer?.name ?? `Customer ${number}`}
      up={up}
      actions={
        mayBook &&
        customer && (
          <a class="button primary" href={paths.book({ workspace }, { customer: number })}>
            Book for this customer
          </a>
        )
      }
    >
      <QueryView query={query}>{({ data }) => data && <Details customer={data} />}</QueryView>
      <Shipments workspace={workspace} customer={id} />
    </Page>
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

function Shipments(props: { readonly workspace: string; readonly customer: bigint }) {
  const { workspace, customer } = props;
  const shipments = useClient(ShipmentService);
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) =>
      shipments.listShipments({ customerId: customer, pageToken, pageSize: 25 }, { signal }),
    [shipments, customer, pageToken],
  );
  useLive(list.reload, ({ data }) => data?.customer?.id === customer);
  return (
    <section class="page-part" aria-label="Shipments">
      <h2>Shipments</h2>
      <QueryView query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <Empty title="No shipments">No shipment is booked for this customer any more.</Empty>
          ) : (
            <>
              <ShipmentTable workspace={workspace} shipments={data} ofOneCustomer />
              <Pager nextPageToken={nextPageToken} />
            </>
          )
        }
      </QueryView>
    </section>
  );
}
