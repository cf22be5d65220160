import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { useAction } from "../api/use-action.ts";
import { boundsOfDays } from "../parts/days.ts";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { SelectField, TextField, textOf } from "../parts/form.tsx";
import { recordIdOf } from "../parts/format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Pager, usePageToken } from "../parts/pager.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { ShipmentTable } from "../parts/shipment-table.tsx";
import { PAYMENT_STATUSES, SHIPMENT_STATUSES } from "../parts/states.tsx";
import { paths } from "../paths.ts";
import { navigate, usePlace } from "../router.ts";

const ANY = ["", "Any"] as const;

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
    <Page
      title="Shipments"
      actions={
        <>
          <Search workspace={workspace} />
          <BookLink workspace={workspace} />
        </>
      }
    >
      <ShipmentFilters />
      <Loaded query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <NoShipments filtered={query.size > 0} workspace={workspace} />
          ) : (
            <>
              <ShipmentTable workspace={workspace} shipments={data} />
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
  return {
    status: number("status"),
    paymentStatus: number("payment_status"),
    customerId: recordIdOf(query.get("customer") ?? ""),
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

/** Leads those who may book to where that is done. */
function BookLink({ workspace }: { readonly workspace: string }) {
  if (!hasRole(useWorkspace(), "member")) return null;
  return (
    <a class="button primary" href={paths.book({ workspace })}>
      Book a shipment
    </a>
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
      <Empty title="No shipments yet" action={<BookLink workspace={workspace} />}>
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
