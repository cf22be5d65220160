import type pg from "pg";
import type { SentQuery } from "./query-log.ts";

/** A node of a query's plan, after the query was run. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Explains a query by running it, and returns every node of its plan. */
export async function planOf(
  sql: pg.Client,
  { sql: text, params }: SentQuery,
): Promise<PlanNode[]> {
  let at = 0;
  const numbered = text.replaceAll("?", () => `$${++at}`);
  const { rows } = await sql.query(`explain (analyze, format json) ${numbered}`, [...params]);
  return nodesOf(rows[0]["QUERY PLAN"][0].Plan);
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** How many rows a plan read from each table, those it filtered out included. */
export function rowsTouched(plan: readonly PlanNode[]): Record<string, number> {
  const touched: Record<string, number> = {};
  for (const node of plan) {
    const table = node["Relation Name"];
    if (table === undefined) continue;
    const rows =
      node["Actual Rows"] +
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0);
    touched[table] = (touched[table] ?? 0) + rows * node["Actual Loops"];
  }
  return touched;
}
