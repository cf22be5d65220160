import type pg from "pg";
import type { SentQuery } from "./query-log.ts";

/** A node of a query's plan, after the query was run. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  /** Whether it is of a kind that is off and was taken for want of another; PostgreSQL tells from 18 on. */
  readonly Disabled?: boolean;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Explains a query by running it, and returns every node of its plan. */
export async function planOf(sql: pg.Client, query: SentQuery): Promise<PlanNode[]> {
  return (await runPlan(sql, query)).plan;
}

/** The same, with how long the database took for it, planning included, in milliseconds. */
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

/** How many rows a plan read from each table, those it filtered out included. */
export function rowsTouched(plan: readonly PlanNode[]): Record<string, number> {
  const touched: Record<string, number> = {};
  for (const node of plan) {
    const table = node["Relation Name"];
    if (table === undefined) continue;
    touched[table] = (touched[table] ?? 0) + rowsAt(node);
  }
  return touched;
}

/** A plan that PostgreSQL has run, with its statement. */
export interface RunPlan {
  /** On one line. */
  readonly statement: string;
  readonly nodes: readonly PlanNode[];
}

/**
 * Has PostgreSQL tell whoever connects to a database from now on of every plan that it runs for them, within
 * triggers and foreign keys too.
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

/** Changes a setting of a database, for those who connect to it from now on. */
export async function alterDatabase(admin: pg.Client, setting: string): Promise<void> {
  const { rows } = await admin.query("select quote_ident(current_database()) as name");
  await admin.query(`alter database ${rows[0].name} set ${setting}`);
}

/** The plans among the notices that somebody was sent. */
export function plansIn(notices: readonly string[]): RunPlan[] {
  return notices.flatMap((notice) => {
    const [, json] = /^duration: .*?plan:\n(.*)$/s.exec(notice) ?? [];
    if (json === undefined) return [];
    const { "Query Text": text, Plan: plan } = JSON.parse(json);
    return [{ statement: onOneLine(text), nodes: nodesOf(plan) }];
  });
}

/** SQL with its white space made one blank each. */
export function onOneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, " ").trim();
}

/** How many rows a node made or left out, in all its loops. */
export function rowsAt(node: PlanNode): number {
  const removed =
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}
