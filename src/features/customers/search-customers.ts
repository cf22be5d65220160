import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hasWords, MOST_FOUND } from "../../db/words.ts";
import {
  CUSTOMER_WORDS,
  customerRecordJson,
  type CustomerRecord,
  NAME_KEY,
} from "./customer.entity.ts";

/**
 * Finds customers of a workspace whose name begins with a text, in whatever case; then those who have its words in
 * their name, email, phone or notes, of which the last may go on.
 */
export async function searchCustomers(
  em: EntityManager,
  workspace: number,
  text: string,
  limit: number,
): Promise<CustomerRecord[]> {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, SEARCH, [
    workspace,
    text,
    limit,
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
      select * from customer
      where (select count(*) from named) < $3 and workspace_id = $1 and ${hasWords(CUSTOMER_WORDS, "$1", "$2")}
      limit ${MOST_FOUND}) as worded
      order by ${NAME_KEY}, id limit 2 * $3)
  ) as found order by kind, ${NAME_KEY}, id`;
