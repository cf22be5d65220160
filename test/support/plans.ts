import type pg from "pg";
import type { SentQuery } from "./query-log.ts";

/** A node in the plan of an executed query. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  /** Whether PostgreSQL had to use a disabled node type for lack of an alternative. Reported since PostgreSQL 18. */
  readonly Disabled?: boolean;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a query and returns all nodes of its plan. */
export async function planOf(sql: pg.Client, query: SentQuery): Promise<PlanNode[]> {
  return (await runPlan(sql, query)).plan;
}

/** Like `planOf`, but also returns the time for planning and execution, in milliseconds. */
export async function runPlan(
  sql: pg.Client,
  { sql: text, params }: SentQuery,
): Promise<{ readonly plan: PlanNode[]; readonly tookMs: number }> {
  let at = 0;
  const numbered = text.replaceAll("?", () => `$${++at}`);
  const { rows } = await sql.query(`explain (analyze, format json) ${numbered}`, [...params]);
  const [ran] = rows[0]["QUERY PLAN"];
  return { plan: nodesOf(ran.Plan), tookMs: ran["Planning Time"] + ran["Execution Time"] };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Returns the number of rows that a plan read from each table, including filtered rows. */
export function rowsTouched(plan: readonly PlanNode[]): Record<string, number> {
  const touched: Record<string, number> = {};
  for (const node of plan) {
    const table = node["Relation Name"];
    if (table === undefined) continue;
    touched[table] = (touched[table] ?? 0) + rowsAt(node);
  }
  return touched;
}

/** An executed statement with its plan. */
export interface RunPlan {
  /** Statement text on one line. */
  readonly statement: string;
  readonly nodes: readonly PlanNode[];
}

/**
 * Makes PostgreSQL report every executed plan on new connections to a database. Includes the plans
 * of triggers and foreign keys.
 */
export async function announcePlans(admin: pg.Client): Promise<void> {
  const settings = [
    "session_preload_libraries = auto_explain",
    "auto_explain.log_min_duration = 0",
    "auto_explain.log_analyze = on",
    "auto_explain.log_timing = off",
    "auto_explain.log_nested_statements = on",
    "auto_explain.log_format = json",
    "auto_explain.log_level = notice",
  ];
  for (const setting of settings) await alterDatabase(admin, setting);
}

/** Changes a database setting for new connections. */
export async function alterDatabase(admin: pg.Client, setting: string): Promise<void> {
  const { rows } = await admin.query("select quote_ident(current_database()) as name");
  await admin.query(`alter database ${rows[0].name} set ${setting}`);
}

/** Parses the plans from a connection's notices. */
export function plansIn(notices: readonly string[]): RunPlan[] {
  return notices.flatMap((notice) => {
    const [, json] = /^duration: .*?plan:\n(.*)$/s.exec(notice) ?? [];
    if (json === undefined) return [];
    const { "Query Text": text, Plan: plan } = JSON.parse(json);
    return [{ statement: onOneLine(text), nodes: nodesOf(plan) }];
  });
}

/** Collapses white space in SQL. */
export function onOneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, " ").trim();
}

/** Returns the number of rows that a node produced or filtered, over all loops. */
export function rowsAt(node: PlanNode): number {
  const removed =
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}
