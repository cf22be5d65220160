import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery } from "../api/use-query.ts";
import { useAction } from "../api/use-action.ts";
import { boundsOfDays } from "../parts/days.ts";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { SelectField, TextField, textOf } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Pager, usePageToken } from "../parts/pager.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import {
  PAYMENT_STATUSES,
  PaymentBadge,
  SHIPMENT_STATUSES,
  ShipmentBadge,
} from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { paths } from "../paths.ts";
import { navigate, usePlace } from "../router.ts";

const ANY = ["", "Any"] as const;

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
  { header: "Customer", selfEvident: true, cell: ({ customer }) => customer?.name },
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
  return (
    <Page title="Shipments" actions={<Search workspace={workspace} />}>
      <ShipmentFilters />
      <Loaded query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <NoShipments filtered={query.size > 0} workspace={workspace} />
          ) : (
            <>
              <Table
                label="Shipments"
                columns={COLUMNS}
                rows={data}
                keyOf={({ reference }) => reference}
                href={({ reference }) => paths.shipment({ workspace, reference })}
              />
              <Pager nextPageToken={nextPageToken} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** What the query of the address asks for. */
function filtersOf(query: URLSearchParams) {
  const number = (name: string) => Number(query.get(name)) || undefined;
  const customer = query.get("customer") ?? "";
  return {
    status: number("status"),
    paymentStatus: number("payment_status"),
    customerId: /^\d{1,18}$/.test(customer) ? BigInt(customer) : undefined,
    externalReference: query.get("external_reference") ?? undefined,
    ...boundsOfDays(query.get("from"), query.get("to")),
  };
}

function ShipmentFilters() {
  const { query } = usePlace();
  const value = (name: string) => query.get(name) ?? "";
  return (
    <Filters names={["status", "payment_status", "from", "to", "customer", "external_reference"]}>
      <SelectField
        name="status"
        label="Status"
        value={value("status")}
        choices={[ANY, ...SHIPMENT_STATUSES]}
      />
      <SelectField
        name="payment_status"
        label="Payment"
        value={value("payment_status")}
        choices={[ANY, ...PAYMENT_STATUSES]}
      />
      <TextField name="from" label="Booked from" type="date" value={value("from")} />
      <TextField name="to" label="Booked until" type="date" value={value("to")} />
      <TextField name="customer" label="Customer number" numeric value={value("customer")} />
      <TextField
        name="external_reference"
        label="External reference"
        value={value("external_reference")}
      />
    </Filters>
  );
}

/** Finds a shipment by what the reader has at hand. */
function Search({ workspace }: { readonly workspace: string }) {
  const customers = useClient(CustomerService);
  const search = useAction(async (form: FormData) => {
    const text = textOf(form, "search");
    if (text === "") return;
    if (/^SHP-/i.test(text)) {
      navigate(paths.shipment({ workspace, reference: text.toUpperCase() }));
    } else if (text.includes("@")) {
      const { data } = await customers.listCustomers({ email: text, pageSize: 1 });
      // No customer has the number 0, so that the list says that there is nothing.
      navigate(paths.shipments({ workspace }, { customer: String(data[0]?.id ?? 0) }));
    } else {
      navigate(paths.shipments({ workspace }, { external_reference: text }));
    }
  });
  return <SearchBox action={search} label="Find a shipment" placeholder="Reference or email" />;
}

function NoShipments(props: { readonly filtered: boolean; readonly workspace: string }) {
  const { workspace } = props;
  if (!props.filtered) {
    return (
      <Empty title="No shipments yet">
        Shipments that are booked here or through the API appear on this page.
      </Empty>
    );
  }
  return (
    <Empty
      title="No shipments match"
      action={
        <a class="button" href={paths.shipments({ workspace })}>
          Show all shipments
        </a>
      }
    >
      Change the filters, or search by a reference.
    </Empty>
  );
}
