import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { Statement } from "../../db/statement.ts";
import { readInOrder } from "../../db/transaction.ts";
import { withAsciiDomain } from "../../domain/email.ts";
import { endPage, type PageRequest, readPage, toId } from "../../pipeline/page.ts";
import { invalidField } from "../../domain/refusal.ts";
import { searchTerms } from "../../domain/search-text.ts";
import { customerRecordJson, customerRecordMessage, HAS_WORDS, LAST_WORD_KEY, NAME_KEY } from "./customer.entity.ts";
import { figureOf, listByFigure } from "./customers-by-figure.ts";
import { type CustomerFunctions, selectCustomers } from "./customers.ts";
import { foldEmail } from "./link-customers.ts";
import { searchCustomers } from "./search-customers.ts";

/**
 * Lists customers of the workspace, by default the newest first, optionally filtered by email, ignoring case. With a
 * name prefix, lists them in alphabetical order. With a text, returns one page of customers that contain its words.
 * Other lists can be sorted by a figure.
 */
export const listCustomers: CustomerFunctions["listCustomers"] = async (
  request,
  { caller: { workspaceId: workspace } },
  { em, loadCustomerFigures, currencyInForce },
) => {
  const { name, email, text, orderBy } = request;
  if (text !== undefined && (name ?? email) !== undefined) {
    throw invalidField("text", "cannot be combined with name or email.");
  }
  const emailLower = email && foldEmail(withAsciiDomain(email));
  const filters = { workspace, emailLower, name, text, orderBy };
  const figure = (text ?? name ?? email) === undefined ? figureOf(orderBy, currencyInForce()) : undefined;
  const { rows, nextPageToken } = await (figure === undefined
    ? listInOrder(em, request, filters)
    : listByFigure(em, request, filters, figure));
  const ids = rows.map(({ id }) => id);
  const figures = request.figures ? await loadCustomerFigures(em, workspace, ids) : undefined;
  const data = rows.map((row) => customerRecordMessage(row, figures?.get(row.id)));
  return { data, nextPageToken };
};

interface CustomerFilters {
  readonly workspace: number;
  /** Email filter, in lower case. */
  readonly emailLower: string | undefined;
  readonly name: string | undefined;
  readonly text: string | undefined;
  readonly orderBy: string | undefined;
}

interface Search extends CustomerFilters {
  readonly after: number | undefined;
  readonly limit: number;
}

/** Lists customers in the order of an index of customers, or by relevance to a text. */
async function listInOrder(em: EntityManager, request: PageRequest, filters: CustomerFilters) {
  const { workspace, text } = filters;
  const page = readPage(request, filters, toId);
  const found =
    text === undefined
      ? await readInOrder(em, (tx) => selectCustomers(tx, ...statementOf({ ...filters, ...page })))
      : await searchCustomers(em, workspace, { text, terms: searchTerms(text) }, page.limit - 1);
  return endPage(found, page, ({ id }) => [id]);
}

function statementOf(search: Search): Statement {
  const { name, orderBy = "" } = search;
  if (name !== undefined) return findByName({ ...search, name });
  return orderBy.startsWith("name") ? sortByName(search) : findNewest(search);
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

function sortByName({ workspace, emailLower, orderBy, after, limit }: Search): Statement {
  const values: unknown[] = [workspace];
  const [direction, follows] = orderBy === "name" ? ["asc", ">"] : ["desc", "<"];
  const ofEmail = emailLower === undefined ? "" : `and email_lower = $${values.push(emailLower)}`;
  const last = after === undefined ? undefined : `$${values.push(after)}`;
  const rest = last === undefined ? "" : `and (${NAME_KEY}, id) ${follows} ((${nameOf(last, NAME_KEY)}), ${last})`;
  const sql = `select ${customerRecordJson("customer")} as customer from customer
    where workspace_id = $1 ${ofEmail} ${rest}
    order by ${NAME_KEY} ${direction}, id ${direction} limit $${values.push(limit)}`;
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

/** Returns SQL for the key under which a customer was found. */
function keyOf(id: string): string {
  return nameOf(id, `case when starts_with(${NAME_KEY}, lower($2)) then ${NAME_KEY} else ${LAST_WORD_KEY} end`);
}

/**
 * Returns SQL for a key of a customer's name. Includes merged customers, because the customer may have been merged since
 * the last page.
 */
function nameOf(id: string, key: string): string {
  return `select ${key}
    from (
      select name from customer where workspace_id = $1 and id = ${id}
      union all select name from customer_alias where workspace_id = $1 and id = ${id}
    ) as named`;
}
