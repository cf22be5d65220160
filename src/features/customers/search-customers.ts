import { beginsWith } from "../../db/begins-with.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import {
  customerJson,
  type CustomerRow,
  EMAIL_KEY,
  HAS_WORDS,
  LAST_WORD_KEY,
  NAME_KEY,
} from "./customer.entity.ts";

/**
 * Finds customers of a workspace by how their name, the last word of it or their email begins, in
 * whatever case. Each of these is read in order from an index, and no further than the limit.
 */
export async function searchCustomers(
  em: EntityManager,
  workspace: number,
  text: string,
  limit: number,
): Promise<CustomerRow[]> {
  const rows = await runStatement<{ customer: CustomerRow }>(em, SEARCH, [workspace, text, limit]);
  const found = new Map(rows.map(({ customer }) => [customer.id, customer]));
  return [...found.values()].slice(0, limit);
}

function branch(key: string, condition = ""): string {
  return `(select customer.*, ${key} as key from customer
    where workspace_id = $1 and ${beginsWith(key, "$2")} ${condition}
    order by ${key}, id limit $3)`;
}

const SEARCH = `select ${customerJson("found")} as customer from (
  ${branch(NAME_KEY)} union all ${branch(LAST_WORD_KEY, `and ${HAS_WORDS}`)} union all
  ${branch(EMAIL_KEY)}) as found order by key, id`;
