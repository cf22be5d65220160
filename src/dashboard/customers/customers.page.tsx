import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { Filters, filterValues } from "../ui/filters.tsx";
import { numberText } from "../ui/format.ts";
import { Empty, Page } from "../ui/page.tsx";
import { type Column, ListView, useList } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { Spend } from "./spend.tsx";

const COLUMNS: readonly Column<Customer>[] = [
  { header: "Name", selfEvident: true, clips: true, cell: ({ name }) => name },
  { header: "Email", selfEvident: true, clips: true, cell: ({ email }) => email },
  { header: "Phone", cell: ({ phone }) => phone },
  {
    header: "Shipments",
    align: "end",
    cell: ({ figures }) => numberText(Number(figures?.shipments ?? 0)),
  },
  { header: "Last booking", cell: ({ figures }) => <Time at={figures?.lastBookedAt} /> },
  {
    header: "Spend",
    align: "end",
    cell: ({ figures }) => <Spend revenue={figures?.revenue ?? []} />,
  },
];

/** Events that change a customer's figures. */
const CHANGES_FIGURES = /^shipment\.(created|updated|paid|cancelled)$/;

const FILTERS = {
  name: { label: "First or last name", placeholder: "Starts with" },
  email: { label: "Email", placeholder: "Full address" },
} as const;

export function CustomersPage() {
  const { query } = useLocation();
  const { name, email } = filterValues(query, FILTERS);
  const list = useList(CustomerService.method.listCustomers, {
    name: name || undefined,
    email: email || undefined,
    figures: true,
  });
  useLive(list.reload, ({ type }) => CHANGES_FIGURES.test(type));
  return (
    <Page title="Customers">
      <Filters fields={FILTERS} />
      <ListView
        query={list}
        label="Customers"
        isList
        columns={COLUMNS}
        href={({ id }) => paths.customer({ customer: id })}
        empty={<NoCustomers isFiltered={Boolean(name || email)} />}
      />
    </Page>
  );
}

function NoCustomers({ isFiltered }: { readonly isFiltered: boolean }) {
  const mayBook = useRole("member");
  if (isFiltered) {
    return (
      <Empty title="No customers match" link={{ label: "Show all customers", href: paths.customers() }}>
        Searches are not case-sensitive.
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
