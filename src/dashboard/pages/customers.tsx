import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useAction } from "../api/use-action.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { Empty } from "../parts/empty.tsx";
import { textOf } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { FIRST_PAGE, Pager, usePageToken } from "../parts/pager.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { paths } from "../paths.ts";
import { changeQuery, usePlace } from "../router.ts";

const COLUMNS: readonly Column<Customer>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  { header: "Email", selfEvident: true, cell: ({ email }) => email },
  { header: "Id number", cell: ({ idNumber }) => idNumber ?? "—" },
  { header: "Number", align: "end", cell: ({ id }) => String(id) },
];

/** The customers of a workspace, the newest first, or those with an email. */
export function CustomersPage({ workspace }: { readonly workspace: string }) {
  const customers = useClient(CustomerService);
  const { query } = usePlace();
  const email = query.get("email") ?? undefined;
  const pageToken = usePageToken();
  const list = useQuery(
    (signal) => customers.listCustomers({ email, pageToken, pageSize: 50 }, { signal }),
    [customers, email, pageToken],
  );
  useLive(list.reload, ({ type }) => type === "shipment.created");
  return (
    <Page title="Customers" actions={<Search />}>
      <Loaded query={list}>
        {({ data, nextPageToken }) =>
          data.length === 0 ? (
            <NoCustomers email={email} workspace={workspace} />
          ) : (
            <>
              {email !== undefined && (
                <p class="filter-note">
                  With the email {email}. <a href={paths.customers({ workspace })}>Show all</a>
                </p>
              )}
              <Table
                label="Customers"
                columns={COLUMNS}
                rows={data}
                keyOf={({ id }) => String(id)}
                href={({ id }) => paths.customer({ workspace, customer: id })}
              />
              <Pager nextPageToken={nextPageToken} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Search() {
  const search = useAction(async (form: FormData) => {
    changeQuery({ email: textOf(form, "search"), ...FIRST_PAGE });
  });
  return <SearchBox action={search} label="Find customers" placeholder="Whole email" />;
}

function NoCustomers(props: { readonly email: string | undefined; readonly workspace: string }) {
  const { email, workspace } = props;
  const mayBook = hasRole(useWorkspace(), "member");
  if (email !== undefined) {
    return (
      <Empty
        title="No customer has this email"
        action={
          <a class="button" href={paths.customers({ workspace })}>
            Show all customers
          </a>
        }
      >
        Nobody was found with {email}. Customers are found by their whole email, in any case.
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
