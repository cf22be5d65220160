import type { ComponentChildren } from "preact";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import {
  type ListShipmentsResponse,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { fieldError } from "../api/problem.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";
import { textOf } from "../ui/fields.tsx";
import { boundsOfDays, Filters, filterValues } from "../ui/filters.tsx";
import { recordIdOf } from "../ui/format.ts";
import { ListView } from "../ui/list-view.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { usePageToken } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import type { Column } from "../ui/table.tsx";
import { Money, Time } from "../ui/values.tsx";
import {
  PAYMENT_STATUSES,
  PaymentBadge,
  SHIPMENT_STATUSES,
  ShipmentBadge,
} from "./shipment-badge.tsx";

const FILTERS = {
  status: { label: "Status", choices: SHIPMENT_STATUSES },
  payment_status: { label: "Payment", choices: PAYMENT_STATUSES },
  from: { label: "Booked from", of: "day" },
  to: { label: "Booked until", of: "day" },
  customer: { label: "Customer number", of: "number" },
  external_reference: { label: "External reference" },
} as const;

/** The shipments of a workspace, the newest first, with filters that are in the address. */
export function ShipmentsPage({ workspace }: { readonly workspace: string }) {
  const shipments = useClient(ShipmentService);
  const { query } = usePlace();
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) =>
      shipments.listShipments({ ...filtersOf(query), pageToken, pageSize: 50 }, { signal }),
    [shipments, query.toString()],
  );
  useLive(list.reload);
  const book = hasRole(useWorkspace(), "member") && (
    <a class="button primary" href={paths.book({ workspace })}>
      Book a shipment
    </a>
  );
  const empty =
    query.size > 0 ? (
      <Empty
        title="No shipments match"
        link={{ label: "Show all shipments", href: paths.shipments({ workspace }) }}
      >
        Change the filters, or search by a reference, a name or an email.
      </Empty>
    ) : (
      <Empty title="No shipments yet" action={book}>
        Shipments that are booked here or through the API appear on this page.
      </Empty>
    );
  return (
    <Page
      title="Shipments"
      actions={
        <>
          <Search workspace={workspace} />
          {book}
        </>
      }
    >
      <Filters fields={FILTERS} />
      <ShipmentList workspace={workspace} query={list} empty={empty} />
    </Page>
  );
}

/** What the query of the address asks for. */
function filtersOf(query: URLSearchParams) {
  const values = filterValues(query, FILTERS);
  return {
    status: Number(values.status) || undefined,
    paymentStatus: Number(values.payment_status) || undefined,
    customerId: recordIdOf(values.customer ?? ""),
    externalReference: values.external_reference,
    ...boundsOfDays(values.from, values.to),
  };
}

/**
 * Finds shipments by what the reader has at hand: a reference, an email, or else an external reference
 * or the name of a customer, whichever there is. Where several customers are of a name, the reader
 * chooses one.
 */
function Search({ workspace }: { readonly workspace: string }) {
  const customers = useClient(CustomerService);
  const shipments = useClient(ShipmentService);
  const addressOf = async (text: string) => {
    if (/^SHP-/i.test(text)) return paths.shipment({ workspace, reference: text.toUpperCase() });
    const isEmail = text.includes("@");
    const [named, people] = await Promise.all([
      isEmail ? undefined : shipments.listShipments({ externalReference: text, pageSize: 1 }),
      customers.listCustomers({ ...(isEmail ? { email: text } : { name: text }), pageSize: 2 }),
    ]);
    if (named?.data.length) return paths.shipments({ workspace }, { external_reference: text });
    const [customer, another] = people.data;
    if (customer === undefined) throw fieldError("search", `Nothing is found by “${text}”.`);
    if (another === undefined) {
      return paths.shipments({ workspace }, { customer: String(customer.id) });
    }
    return paths.customers({ workspace }, isEmail ? { email: text } : { name: text });
  };
  const search = useAction(async (form: FormData) => {
    const text = textOf(form, "search");
    if (text !== "") navigate(await addressOf(text));
  });
  return (
    <SearchBox
      action={search}
      label="Find shipments"
      placeholder="Reference, name or email"
      hint="A shipment’s reference or external reference; or a customer’s whole email, or the beginning of the first or last name."
    />
  );
}

const CUSTOMER: Column<Shipment> = {
  header: "Customer",
  selfEvident: true,
  cell: ({ customer }) => customer?.name,
};

const COLUMNS: readonly Column<Shipment>[] = [
  {
    header: "Reference",
    selfEvident: true,
    cell: ({ reference }) => <code>{reference}</code>,
  },
  {
    header: "Status",
    selfEvident: true,
    cell: ({ status }) => <ShipmentBadge status={status} />,
  },
  {
    header: "Payment",
    selfEvident: true,
    cell: ({ paymentStatus }) => <PaymentBadge status={paymentStatus} />,
  },
  CUSTOMER,
  {
    header: "From → to",
    selfEvident: true,
    cell: ({ pickupAddress, dropoffAddress }) => `${pickupAddress} → ${dropoffAddress}`,
  },
  {
    header: "Total",
    align: "end",
    selfEvident: true,
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  {
    header: "Booked",
    align: "end",
    selfEvident: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** A list of shipments, each leading to its page. */
export function ShipmentList(props: {
  readonly workspace: string;
  readonly query: Query<ListShipmentsResponse>;
  readonly empty: ComponentChildren;
  /** Whether they are all of one customer, whom the page names. */
  readonly ofOneCustomer?: boolean;
}) {
  const { workspace, query, empty, ofOneCustomer } = props;
  return (
    <ListView
      query={query}
      label="Shipments"
      columns={ofOneCustomer ? COLUMNS.filter((column) => column !== CUSTOMER) : COLUMNS}
      keyOf={({ reference }) => reference}
      href={({ reference }) => paths.shipment({ workspace, reference })}
      empty={empty}
    />
  );
}
