import { beginsWith } from "../../db/begins-with.ts";
import type { Statement } from "../../db/statement.ts";
import { readInOrder } from "../../db/transaction.ts";
import { withAsciiDomain } from "../../domain/email.ts";
import { endPage, readPage, toId } from "../../pipeline/page.ts";
import { customerRecordJson, customerRecordMessage, HAS_WORDS, LAST_WORD_KEY, NAME_KEY } from "./customer.entity.ts";
import { type CustomerFunctions, selectCustomers } from "./customers.ts";
import { foldEmail } from "./link-customers.ts";

/**
 * Lists customers of the workspace, newest first, optionally filtered by email, ignoring case. With
 * a name prefix, lists them in alphabetical order.
 */
export const listCustomers: CustomerFunctions["listCustomers"] = async (
  request,
  { caller: { workspaceId: workspace } },
  { em, loadCustomerFigures },
) => {
  const { name, email } = request;
  const emailLower = email && foldEmail(withAsciiDomain(email));
  const filters = { workspace, emailLower, name };
  const page = readPage(request, filters, toId);
  const search = { ...filters, ...page };
  const statement = name === undefined ? findNewest(search) : findByName({ ...search, name });
  const found = await readInOrder(em, (tx) => selectCustomers(tx, ...statement));
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  const ids = rows.map(({ id }) => id);
  const figures = request.figures ? await loadCustomerFigures(em, workspace, ids) : undefined;
  const data = rows.map((row) => customerRecordMessage(row, figures?.get(row.id)));
  return { data, nextPageToken };
};

interface Search {
  readonly workspace: number;
  /** Email filter, in lower case. */
  readonly emailLower: string | undefined;
  readonly after: number | undefined;
  readonly limit: number;
}

function findNewest({ workspace, emailLower, after, limit }: Search): Statement {
  const values: unknown[] = [workspace];
  const ofEmail = emailLower === undefined ? "" : `and email_lower = $${values.push(emailLower)}`;
  const older = after === undefined ? "" : `and id < $${values.push(after)}`;
  const sql = `select ${customerRecordJson("customer")} as customer from customer
    where workspace_id = $1 ${ofEmail} ${older}
    order by id desc limit $${values.push(limit)}`;
  return [sql, values];
}

/**
 * Finds customers by a prefix of the name or of its last word, ignoring case, in alphabetical
 * order. Reads both indexes in order and only as far as the page needs.
 */
function findByName(search: Search & { readonly name: string }): Statement {
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
  return [sql, values];
}

/**
 * Returns SQL for the key under which a customer was found. Includes merged customers, because the customer may have
 * been merged since then.
 */
function keyOf(id: string): string {
  return `select case when starts_with(${NAME_KEY}, lower($2)) then ${NAME_KEY} else ${LAST_WORD_KEY} end
    from (
      select name from customer where workspace_id = $1 and id = ${id}
      union all select name from customer_alias where workspace_id = $1 and id = ${id}
    ) as named`;
}
