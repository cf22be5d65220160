import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_MATCHES, searchWords } from "../../db/words.ts";
import { searchQuery, type SearchTerm } from "../../domain/search-text.ts";
import { CUSTOMER_WORDS, customerRecordJson, type CustomerRecord, NAME_KEY } from "./customer.entity.ts";

/**
 * Finds customers of a workspace, ignoring case. Customers whose name begins with the text come
 * first, followed by those that match all terms in their name, email, phone or notes.
 */
export async function searchCustomers(
  em: EntityManager,
  workspace: number,
  { text, terms }: { readonly text: string; readonly terms: readonly SearchTerm[] },
  limit: number,
): Promise<CustomerRecord[]> {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, NAMED, [workspace, text, limit]);
  if (rows.length < limit && terms.length > 0) {
    rows.push(...(await searchWords<(typeof rows)[0]>(em, WORDED, [workspace, searchQuery(terms), limit])));
  }
  const found = new Map(rows.map(({ customer }) => [customer.id, customer]));
  return [...found.values()].slice(0, limit);
}

const NAMED = `
  select ${customerRecordJson("customer")} as customer from customer
  where workspace_id = $1 and ${beginsWith(NAME_KEY, "$2")} order by ${NAME_KEY}, id limit $3`;

const WORDED = `
  select ${customerRecordJson("found")} as customer from (
    ${CUSTOMER_WORDS.matches("customer.*", "$2")} limit ${MAX_MATCHES}) as found
  order by ${NAME_KEY}, id limit 2 * $3`;
