import type { ComponentChildren } from "preact";
import { ORDER_BY, type Order, useList } from "../ui/table.tsx";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentCount } from "../../../gen/shipments/v1/shipment_count_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole, useTimeZone } from "../api/session.ts";
import { paths, UNASSIGNED } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { choicesOf } from "../ui/description-list.tsx";
import { daysOf, today, LinkChoice } from "../ui/days.tsx";
import { FilterChips } from "../ui/filter-chips.tsx";
import { boundsOfDays, filterValues } from "../ui/filters.tsx";
import type { Choices } from "../ui/fields.tsx";
import { recordIdOf } from "../ui/format.ts";
import { lazily } from "../ui/lazily.tsx";
import { Empty, FirstPageButton, Page, PHONE, Spinner } from "../ui/page.tsx";
import {
  filtersText,
  ListedTotals,
  Queues,
  SavedViews,
  useCounts,
  useSavedViews,
  type View,
  viewOf,
} from "./queues.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import type { ExportProps } from "./export-dialog.tsx";
import { ColumnChooser } from "./shipment-columns.tsx";
import { SelectableShipmentList, ShipmentList } from "./shipment-list.tsx";
import { Button } from "../ui/button.tsx";
import { openDialog } from "../ui/dialog.tsx";
import { Menu } from "../ui/menu.tsx";
import { PAGE_TOKEN, usePageToken } from "../ui/pager.tsx";

/** Query parameter of the view: list, map or both. */
const VIEW = "view";
const VIEWS: Choices = [
  ["", "List"],
  ["both", "Both"],
  ["map", "Map"],
];
/** Views on phones, where a map above the list would hide it. */
const PHONE_VIEWS = VIEWS.filter(([name]) => name !== "both");
/** Query parameters that apply to one view only. */
const OF_VIEWS = [ORDER_BY, "end"];

const CustomerName = lazily(() => import("./customer-fields.tsx"), "CustomerName", "…");

const CourierName = lazily(() => import("./courier-filter.tsx"), "CourierName", "…");
const CourierFinder = lazily(() => import("./courier-filter.tsx"), "CourierFinder", <Spinner label="Loading" />);

const STATES = {
  status: { label: "Status", choices: choicesOf(SHIPMENT_STATES), names: ShipmentStatus },
  payment_status: { label: "Payment", choices: choicesOf(PAYMENT_STATES), names: PaymentStatus },
} as const;
const OTHERS = {
  customer: { label: "Customer", of: "number", Value: CustomerName, Finder: CustomerFinder },
  courier: { label: "Courier", Value: CourierName, Finder: CourierFinder },
  external_reference: { label: "External reference" },
  from: { label: "Booked from", of: "day" },
  to: { label: "Booked until", of: "day" },
} as const;
const FILTERS = { ...STATES, ...OTHERS };

export function ShipmentsPage() {
  const { query } = useLocation();
  const timeZone = useTimeZone();
  const views = PHONE.matches ? PHONE_VIEWS : VIEWS;
  const [shownAs] = views.find(([name]) => name === query.get(VIEW)) ?? VIEWS[0]!;
  const isMap = shownAs === "map";
  const filters = filtersOf(query, timeZone);
  const view = viewOf(filters.failed ? { failed: "true" } : filterValues(query, STATES));
  const counted = useCounts(filters, filtersText(query));
  const saved = useSavedViews();
  const mayChange = useRole("member");
  const book = mayChange && (
    <a class="button primary" href={paths.book()}>
      Book a shipment
    </a>
  );
  const empty = <NoShipments {...{ view, filters }} />;
  const bar = (
    <>
      <FilterChips fields={view.queue === undefined ? FILTERS : OTHERS} days="Booked" />
      <SavedViews {...{ view, saved }} />
      {!isMap && <ColumnChooser view={view} />}
      <LinkChoice label="View" name={VIEW} choices={views} current={shownAs} without={OF_VIEWS} />
    </>
  );
  return (
    <Page
      title="Shipments"
      note={<ListedTotals {...counted} />}
      actions={
        <>
          <ExportMenu filters={filters} />
          {book}
        </>
      }
    >
      <Queues {...{ view, saved }} counts={counted.counts} />
      {isMap ? (
        <>
          <div class="list-bar">{bar}</div>
          <LazyMap {...{ filters, empty }} of={filtersText(query)} />
        </>
      ) : (
        <Listed {...{ view, filters, mayChange, empty }} hasMap={shownAs === "both"} listed={counted.counts?.listed}>
          {bar}
        </Listed>
      )}
    </Page>
  );
}

function Listed(props: {
  readonly view: View;
  readonly filters: ReturnType<typeof filtersOf>;
  readonly mayChange: boolean;
  readonly empty: ComponentChildren;
  /** Whether a map is shown beside the list. */
  readonly hasMap: boolean;
  readonly listed: ShipmentCount | undefined;
  readonly children: ComponentChildren;
}) {
  const { view, filters, mayChange, empty, hasMap, listed, children } = props;
  const { query } = useLocation();
  const order = orderOf(query, view, isNarrowed(filters));
  const list = useList(ShipmentService.method.listShipments, { ...filters, orderBy: order.by });
  useLive(list.reload);
  const page = `${filtersText(query)} ${query.get(PAGE_TOKEN)}`;
  const mapOf = hasMap ? page : undefined;
  const shown = { query: list, view, order, empty, mapOf, listed };
  return mayChange ? (
    <SelectableShipmentList of={filtersText(query)} {...shown}>
      {children}
    </SelectableShipmentList>
  ) : (
    <>
      <div class="list-bar">{children}</div>
      <ShipmentList {...shown} />
    </>
  );
}

/**
 * Returns the list's current order and the orders it supports. Only queues without further filters
 * support all orders. Other lists are ordered by creation time.
 */
function orderOf(query: URLSearchParams, view: View, narrowed: boolean): Order {
  const isDue = view.queue !== undefined && view.queue !== "failed" && !narrowed;
  const allows = (order: string) => isDue || order.startsWith("created_at");
  const usual = allows(view.order) ? view.order : "created_at";
  const orderName = query.get(ORDER_BY) ?? "";
  return { by: ORDERS.has(orderName) && allows(orderName) ? orderName : usual, usual, allows };
}

const ORDERS: ReadonlySet<string> = new Set(
  ["created_at", "pickup_window", "total"].flatMap((order) => [order, `${order} desc`]),
);

const LazyFinder = lazily(() => import("./customer-fields.tsx"), "ExistingCustomer", <Spinner label="Loading" />);

function CustomerFinder({ choose }: { readonly choose: (value: string) => void }) {
  return <LazyFinder chosen={undefined} choose={(customer) => customer && choose(String(customer.id))} />;
}

const LazyMap = lazily(() => import("./shipment-map.tsx"), "ShipmentMap", <Spinner label="Loading the map" />);

function NoShipments(props: { readonly view: View; readonly filters: ReturnType<typeof filtersOf> }) {
  const { view, filters } = props;
  if (usePageToken()) return <Empty title="No shipments left on this page" action={<FirstPageButton />} />;
  const link = { label: "Show all shipments", href: paths.shipments() };
  const hasState = (filters.status ?? filters.paymentStatus) !== undefined;
  if (isNarrowed(filters) || (view.queue === undefined && hasState)) {
    return (
      <Empty title="No shipments match" link={link}>
        Change the filters, or search by a reference, a name, an email or an address.
      </Empty>
    );
  }
  if (view.queue !== undefined) {
    return (
      <Empty title={view.done} link={link} isGood>
        Shipments that need attention appear here automatically.
      </Empty>
    );
  }
  return <Empty title={view.done}>Shipments that are booked here or through the API appear on this page.</Empty>;
}

function filtersOf(query: URLSearchParams, timeZone: string | undefined) {
  const values = filterValues(query, FILTERS);
  const failed = query.get("failed") === "true";
  const { from, to } = daysOf(query, values, today(timeZone));
  return {
    // The list of failed payments includes every status.
    status: failed ? undefined : enumOf<ShipmentStatus>(values.status),
    paymentStatus: failed ? undefined : enumOf<PaymentStatus>(values.payment_status),
    customerId: recordIdOf(values.customer ?? ""),
    externalReference: values.external_reference,
    courierId: values.courier === UNASSIGNED ? undefined : values.courier || undefined,
    unassigned: values.courier === UNASSIGNED || undefined,
    ...boundsOfDays(from, to, timeZone),
    failed,
  };
}

function enumOf<E extends number>(value: string | undefined): E | undefined {
  return value ? (Number(value) as E) : undefined;
}

/** Whether the list has filters other than the states. */
function isNarrowed(filters: ReturnType<typeof filtersOf>): boolean {
  const { status: _, paymentStatus: __, failed: ___, ...others } = filters;
  return Object.values(others).some((value) => value !== undefined);
}

const ExportDialog = lazily(() => import("./export-dialog.tsx"), "ExportDialog");

function ExportMenu({ filters }: ExportProps) {
  return (
    <Menu label="Export">
      <Button quiet onClick={() => openDialog(<ExportDialog filters={filters} />)}>
        CSV file of this list
      </Button>
      <a class="button quiet" href={paths.manifest()}>
        Daily manifest
      </a>
    </Menu>
  );
}
