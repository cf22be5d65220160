import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, usePlace } from "../routes/router.ts";
import { ShipmentList } from "../shipments/shipments.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { textOf } from "../ui/fields.tsx";
import { recordIdOf } from "../ui/format.ts";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page, Section } from "../ui/page.tsx";
import { FIRST_PAGE, usePageToken } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import type { Column } from "../ui/table.tsx";

const COLUMNS: readonly Column<Customer>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  { header: "Email", selfEvident: true, cell: ({ email }) => email },
  { header: "Id number", cell: ({ idNumber }) => idNumber ?? "—" },
  { header: "Number", align: "end", cell: ({ id }) => String(id) },
];

/** The customers of a workspace, the newest first, or those with an email or of a name. */
export function CustomersPage({ workspace }: { readonly workspace: string }) {
  const customers = useClient(CustomerService);
  const { query } = usePlace();
  const email = query.get("email") ?? undefined;
  const name = query.get("name") ?? undefined;
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) => customers.listCustomers({ email, name, pageToken, pageSize: 50 }, { signal }),
    [customers, email, name, pageToken],
  );
  const sought = [
    ...(email === undefined ? [] : [`with the email ${email}`]),
    ...(name === undefined ? [] : [`whose first or last name begins with ${name}`]),
  ].join(" and ");
  useLive(list.reload, ({ type }) => type === "shipment.created");
  return (
    <Page title="Customers" actions={<Search />}>
      <ListView
        query={list}
        label="Customers"
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        href={({ id }) => paths.customer({ workspace, customer: id })}
        empty={<NoCustomers sought={sought} workspace={workspace} />}
      >
        {sought !== "" && (
          <p class="filter-note">
            Customers {sought}. <a href={paths.customers({ workspace })}>Show all</a>
          </p>
        )}
      </ListView>
    </Page>
  );
}

function Search() {
  const search = useAction(async (form: FormData) => {
    const text = textOf(form, "search");
    const [email, name] = text.includes("@") ? [text, ""] : ["", text];
    changeQuery({ email, name, ...FIRST_PAGE });
  });
  return (
    <SearchBox
      action={search}
      label="Find customers"
      placeholder="Name or email"
      hint="The beginning of the first or last name, or the whole email."
    />
  );
}

function NoCustomers(props: { readonly sought: string; readonly workspace: string }) {
  const { sought, workspace } = props;
  const mayBook = hasRole(useWorkspace(), "member");
  if (sought !== "") {
    return (
      <Empty
        title="No customer is found"
        link={{ label: "Show all customers", href: paths.customers({ workspace }) }}
      >
        There is none {sought}. The case of letters does not matter.
      </Empty>
    );
  }
  return (
    <Empty
      title="No customers yet"
      action={
        mayBook && (
          <a class="button primary" href={paths.book({ workspace })}>
            Book a shipment
          </a>
        )
      }
    >
      A customer is made by the first shipment that is booked for them.
    </Empty>
  );
}

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
