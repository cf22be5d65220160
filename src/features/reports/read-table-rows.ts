import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** The tables that grow with the use of the service. */
export const GROWING_TABLES = [
  "shipment",
  "event",
  "webhook_delivery",
  "webhook_attempt",
  "kept_answer",
] as const;

/** How many rows a table has. */
export interface TableRows {
  readonly table: (typeof GROWING_TABLES)[number];
  readonly rows: number;
}

/**
 * PostgreSQL counts along as rows come and go, and forgets that count in a crash; what the last
 * ANALYZE estimated stays.
 */
const READ = `
  select class.relname as "table",
    greatest(pg_stat_get_live_tuples(class.oid), class.reltuples, 0)::float8 as rows
  from json_array_elements_text($1) as name
  join pg_class as class on class.oid = to_regclass(name)`;

/** Reads about how many rows the tables have that grow, without reading the tables. */
export async function readTableRows(em: EntityManager): Promise<TableRows[]> {
  return runStatement<TableRows>(em.fork(), READ, [JSON.stringify(GROWING_TABLES)]);
}
