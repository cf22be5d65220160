import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, usePlace } from "../routes/router.ts";
import { textOf } from "../ui/form-data.ts";
import { numberText } from "../ui/format.ts";
import { FIRST_PAGE } from "../ui/pager.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { SearchBox } from "../ui/search-box.tsx";
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

/** What makes another figure of a customer. */
const CHANGES_FIGURES = /^shipment\.(created|updated|paid|cancelled)$/;

export function CustomersPage() {
  const { query } = usePlace();
  const email = query.get("email") ?? undefined;
  const name = query.get("name") ?? undefined;
  const list = useList(CustomerService.method.listCustomers, { email, name, figures: true });
  const sought = [
    ...(email === undefined ? [] : [`with the email ${email}`]),
    ...(name === undefined ? [] : [`whose first or last name begins with ${name}`]),
  ].join(" and ");
  useLive(list.reload, ({ type }) => CHANGES_FIGURES.test(type));
  return (
    <Page title="Customers" actions={<Search />}>
      <ListView
        query={list}
        label="Customers"
        isList
        columns={COLUMNS}
        href={({ id }) => paths.customer({ customer: id })}
        empty={<NoCustomers sought={sought} />}
      >
        {sought !== "" && (
          <p class="filter-note">
            Customers {sought}. <a href={paths.customers()}>Show all</a>
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

function NoCustomers({ sought }: { readonly sought: string }) {
  const mayBook = useRole("member");
  if (sought !== "") {
    return (
      <Empty
        title="No customer is found"
        link={{ label: "Show all customers", href: paths.customers() }}
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
          <a class="button primary" href={paths.book()}>
            Book a shipment
          </a>
        )
      }
    >
      A customer is made by the first shipment that is booked for them.
    </Empty>
  );
}
