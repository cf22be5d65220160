import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MOST_FOUND } from "../../db/words.ts";
import { searchQuery, type SearchTerm } from "../../domain/search-text.ts";
import {
  CUSTOMER_WORDS,
  customerRecordJson,
  type CustomerRecord,
  NAME_KEY,
} from "./customer.entity.ts";

/**
 * Finds customers of a workspace whose name begins with a text, in whatever case; then those with its terms in their
 * name, email, phone or notes.
 */
export async function searchCustomers(
  em: EntityManager,
  workspace: number,
  { text, terms }: { readonly text: string; readonly terms: readonly SearchTerm[] },
  limit: number,
): Promise<CustomerRecord[]> {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, SEARCH, [
    workspace,
    text,
    limit,
    searchQuery(terms),
  ]);
  const found = new Map(rows.map(({ customer }) => [customer.id, customer]));
  return [...found.values()].slice(0, limit);
}

const SEARCH = `
  with named as materialized (
    select * from customer where workspace_id = $1 and ${beginsWith(NAME_KEY, "$2")}
    order by ${NAME_KEY}, id limit $3)
  select ${customerRecordJson("found")} as customer from (
    select 1 as kind, named.* from named
    union all (select 2 as kind, worded.* from (
      select * from (${CUSTOMER_WORDS.found("customer.*", "$1", "$4")}) as customer
      where (select count(*) from named) < $3
      limit ${MOST_FOUND}) as worded
      order by ${NAME_KEY}, id limit 2 * $3)
  ) as found order by kind, ${NAME_KEY}, id`;
