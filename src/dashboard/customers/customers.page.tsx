import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { useRepeat } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { Filters, filterValues } from "../ui/filters.tsx";
import { numberText } from "../ui/format.ts";
import { Empty, Page } from "../ui/page.tsx";
import { type Column, Line, ListView, ORDER_BY, useList } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { Awaited, Spend } from "../ui/spend.tsx";

const COLUMNS: readonly Column<Customer>[] = [
  { header: "Name", selfEvident: true, clips: true, orders: ["name", "name desc"], cell: ({ name }) => name },
  {
    header: "Email",
    selfEvident: true,
    clips: true,
    cell: ({ email, phone }) => (
      <>
        <Line text={email} />
        <Line isMinor text={phone} />
      </>
    ),
  },
  { header: "Shipments", align: "end", cell: ({ figures }) => numberText(Number(figures?.shipments ?? 0)) },
  {
    header: "Last booking",
    orders: ["last_booked_at desc", "last_booked_at"],
    cell: ({ figures }) => <Time at={figures?.lastBookedAt} />,
  },
  {
    header: "Spend",
    align: "end",
    orders: ["paid desc", "paid"],
    cell: ({ figures: { revenue = [] } = {} }) => (
      <>
        <Spend revenue={revenue} orElse={revenue.some(({ awaitingPayment }) => awaitingPayment > 0) ? "" : "—"} />
        <span class="line minor">
          <Awaited revenue={revenue} />
        </span>
      </>
    ),
  },
];

/** Events that change a customer's figures. */
const CHANGES_FIGURES = /^shipment\.(created|updated|paid|cancelled)$/;

/** Reload interval, in milliseconds. An order by figures can be 20 seconds older than the figures. */
const REPEAT_MS = 20_000;

const FILTERS = { text: { label: "Find customers", placeholder: "Name, email, phone or note" } } as const;

const LAST_BOOKED = "last_booked_at desc";
const ORDERS = COLUMNS.flatMap(({ orders = [] }) => orders);

export function CustomersPage() {
  const { query } = useLocation();
  const { text } = filterValues(query, FILTERS);
  const orderName = query.get(ORDER_BY) ?? "";
  const by = ORDERS.includes(orderName) ? orderName : LAST_BOOKED;
  const list = useList(CustomerService.method.listCustomers, { text: text || undefined, orderBy: by, figures: true });
  // Search results have their own order.
  const order = text ? undefined : { by, usual: LAST_BOOKED, allows: () => true };
  useLive(list.reload, ({ type }) => CHANGES_FIGURES.test(type));
  useRepeat(list.reload, REPEAT_MS);
  return (
    <Page title="Customers">
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        label="Customers"
        isList
        columns={COLUMNS}
        order={order}
        href={({ id }) => paths.customer({ customer: id })}
        empty={<NoCustomers isFiltered={Boolean(text)} />}
      />
    </Page>
  );
}

function NoCustomers({ isFiltered }: { readonly isFiltered: boolean }) {
  const mayBook = useRole("member");
  if (isFiltered) {
    return (
      <Empty title="No customers match" link={{ label: "Show all customers", href: paths.customers() }}>
        Search by words of the name, email or notes, or by the last four digits of the phone number.
      </Empty>
    );
  }
  return (
    <Empty
      title="No customers yet"
      action={
        mayBook && (
          <a class="button primary" href={paths.book()}>
            Book a shipment
          </a>
        )
      }
    >
      Booking a shipment creates its customer.
    </Empty>
  );
}
