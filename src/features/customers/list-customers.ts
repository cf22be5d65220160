import { create } from "@bufbuild/protobuf";
import {
  type ListCustomersRequestValid,
  type ListCustomersResponse,
  ListCustomersResponseSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Call } from "../../pipeline/call.ts";
import { endPage, readPage, toId } from "../../pipeline/page.ts";
import type { CustomerDeps } from "./customer-figures.ts";
import {
  type CustomerRecord,
  customerRecordJson,
  customerRecordMessage,
  HAS_WORDS,
  LAST_WORD_KEY,
  NAME_KEY,
} from "./customer.entity.ts";

/**
 * Lists customers of the workspace, newest first, or those with an email in whatever case; or by the
 * beginning of their names, in the order of what begins with it.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with this filter
 */
export async function listCustomers(
  request: ListCustomersRequestValid,
  { caller }: Call,
  { em, loadCustomerFigures }: CustomerDeps,
): Promise<ListCustomersResponse> {
  const workspace = caller.workspaceId;
  const { name } = request;
  const filters = { workspace, emailLower: request.email?.toLowerCase(), name };
  const page = readPage(request, filters, toId);
  const search = { ...filters, ...page };
  const found = await (name === undefined
    ? findNewest(em, search)
    : findByName(em, { ...search, name }));
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  const figures = request.figures
    ? await loadCustomerFigures(
        em,
        workspace,
        rows.map(({ id }) => id),
      )
    : undefined;
  const data = rows.map((row) => customerRecordMessage(row, figures?.get(row.id)));
  return create(ListCustomersResponseSchema, { data, nextPageToken });
}

/** Which customers to find. */
interface Search {
  readonly workspace: number;
  /** Only customers with this email, in lower case. */
  readonly emailLower: string | undefined;
  /** The last customer of the page before. */
  readonly after: number | undefined;
  readonly limit: number;
}

async function findNewest(em: EntityManager, search: Search): Promise<CustomerRecord[]> {
  const { workspace, emailLower, after, limit } = search;
  const values: unknown[] = [workspace];
  const ofEmail = emailLower === undefined ? "" : `and email_lower = $${values.push(emailLower)}`;
  const older = after === undefined ? "" : `and id < $${values.push(after)}`;
  const sql = `select ${customerRecordJson("customer")} as customer from customer
    where workspace_id = $1 ${ofEmail} ${older}
    order by id desc limit $${values.push(limit)}`;
  return customersOf(em, sql, values);
}

interface NameSearch extends Search {
  /** What a name, or the last word of it, begins with, in whatever case. */
  readonly name: string;
}

/**
 * Finds customers by the beginning of their name or of its last word, in the order of what begins with
 * it. Each of the two is read in order from an index, and no further than the page reaches.
 */
async function findByName(em: EntityManager, search: NameSearch): Promise<CustomerRecord[]> {
  const { workspace, name, emailLower, after, limit } = search;
  const values: unknown[] = [workspace, name, limit];
  const ofEmail = emailLower === undefined ? "" : `and email_lower = $${values.push(emailLower)}`;
  const afterId = after === undefined ? undefined : `$${values.push(after)}`;
  const range = (key: string) => `workspace_id = $1 ${ofEmail}
    and ${beginsWith(key, "$2")}
    ${afterId === undefined ? "" : `and (${key}, id) > ((${keyOf(afterId)}), ${afterId})`}`;
  const branch = (key: string, condition: string) => `(
    select customer.*, ${key} as key from customer
    where ${range(key)} ${condition} order by ${key}, id limit $3)`;
  const sql = `select ${customerRecordJson("found")} as customer from (
    ${branch(NAME_KEY, "")} union all
    ${branch(LAST_WORD_KEY, `and ${HAS_WORDS} and not starts_with(${NAME_KEY}, lower($2))`)}
    ) as found order by key, id limit $3`;
  return customersOf(em, sql, values);
}

async function customersOf(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<CustomerRecord[]> {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, sql, values);
  return rows.map(({ customer }) => customer);
}

/** What a customer was found by, who may have been merged since. */
function keyOf(id: string): string {
  return `select case when starts_with(${NAME_KEY}, lower($2)) then ${NAME_KEY} else ${LAST_WORD_KEY} end
    from (
      select name from customer where workspace_id = $1 and id = ${id}
      union all select name from customer_alias where workspace_id = $1 and id = ${id}
    ) as named`;
}
