import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { loadModule, parseSync } from "libpg-query";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "../../src/db/citus/distributed.ts";
import { onShard, withTables } from "../../src/db/citus/shard-statements.ts";

/** A part of PostgreSQL's syntax tree. */
type Tree = any;

await loadModule();

const TABLES: readonly string[] = [...DISTRIBUTED_TABLES, ...REFERENCE_TABLES];
const ofShard = (table: string) => `${table}_7`;

/**
 * Checks the statements of a run.
 *
 * @param file contains them as JSON, one on each line
 * @throws Error for faults
 */
export function assertNoFaults(file: string): void {
  const lines = new Set(readFileSync(file, "utf8").split("\n").filter(Boolean));
  const faults = [...lines].flatMap((line) => {
    const fault = faultOf(JSON.parse(line));
    return fault === undefined ? [] : [`${fault}: ${line}`];
  });
  if (faults.length > 0) throw new Error(`These statements cannot run on shards:\n${faults.join("\n")}`);
}

/**
 * Checks a statement for shards with PostgreSQL's parser: exactly its tables are renamed, and it runs on the shard of
 * a workspace if and only if each access is restricted to the workspace `$1`.
 *
 * @returns the fault, or `undefined`
 */
export function faultOf(sql: string): string | undefined {
  const renamed = treeOf(sql);
  for (const table of tablesOf(renamed)) {
    if (!TABLES.includes(table.relname)) continue;
    table.alias ??= { aliasname: table.relname };
    table.relname = ofShard(table.relname);
  }
  const text = withTables(sql, ofShard);
  if (!isValid(text) || !isDeepStrictEqual(treeOf(text), renamed))
    return "renaming misses a table or changes other text";
  const fault = accessFault(treeOf(sql));
  if (onShard(new Map(), sql, ofShard) !== undefined) return fault;
  return fault === undefined && text !== sql
    ? "the statement is sent to Citus although it could run on the shard"
    : undefined;
}

function isValid(sql: string): boolean {
  try {
    return parseSync(sql).stmts !== undefined;
  } catch {
    return false;
  }
}

/** Keys of positions in the text. */
const POSITION = /^((stmt_)?(location|len)|rexpr_list_(start|end))$/;

/** Returns the syntax tree without positions in the text. */
function treeOf(sql: string): Tree {
  const withoutPosition = (key: string, value: Tree) => (POSITION.test(key) ? undefined : value);
  return JSON.parse(JSON.stringify(parseSync(sql).stmts, withoutPosition));
}

/** Returns the parts of a tree that satisfy a condition. */
function partsOf(tree: Tree, isWanted: (part: Tree) => boolean): Tree[] {
  if (typeof tree !== "object" || tree === null) return [];
  const below = Object.values(tree).flatMap((part) => partsOf(part, isWanted));
  return isWanted(tree) ? [tree, ...below] : below;
}

const tablesOf = (tree: Tree) => partsOf(tree, (part) => "relname" in part);

function accessFault(tree: Tree): string | undefined {
  const queries = partsOf(tree, (part) => "fromClause" in part || "relname" in (part.relation ?? {})).map(queryOf);
  const common = partsOf(tree, (part) => "ctename" in part).map(({ ctename }) => ctename);
  const restricted = queries.flatMap(restrictedTables);
  const changed = queries.flatMap(({ changes }) => changes);
  for (const table of tablesOf(tree)) {
    const isCommon = common.includes(table.relname);
    if (isCommon !== !TABLES.includes(table.relname)) return `${table.relname} is not a table of the node`;
    if (isDistributed(table) && !restricted.includes(table))
      return `${table.relname} is not restricted to one workspace`;
    if (REFERENCE_TABLES.includes(table.relname) && changed.includes(table))
      return `${table.relname} is stored on all nodes and cannot be changed on one`;
  }
  return queries.some(({ sets }) => sets.includes("workspace_id")) ? "rows move to another workspace" : undefined;
}

const isDistributed = ({ relname }: Tree) => DISTRIBUTED_TABLES.includes(relname);

/** A query or a part of one, without its subqueries. */
interface Query {
  readonly statement: Tree;
  readonly tables: readonly Tree[];
  /** Tables that it writes or locks. */
  readonly changes: readonly Tree[];
  /** Columns that it sets in existing rows. */
  readonly sets: readonly string[];
  /** Conditions on all of its rows. */
  readonly conditions: readonly Tree[];
}

function queryOf(statement: Tree): Query {
  const { relation, fromClause = [], usingClause = [], onConflictClause } = statement;
  const from = [...fromClause, ...usingClause].map(joined);
  const read = from.flatMap(({ tables }) => tables);
  const sets = [...((relation && statement.targetList) ?? []), ...(onConflictClause?.targetList ?? [])];
  return {
    statement,
    tables: relation ? [relation, ...read] : read,
    changes: statement.lockingClause ? read : [relation],
    sets: sets.map(({ ResTarget }) => ResTarget.name),
    conditions: [statement.whereClause, ...from.flatMap(({ conditions }) => conditions)].flatMap(conjunctsOf),
  };
}

/** Returns the tables of an item after `from`, and the conditions of its inner joins. */
function joined({ RangeVar, JoinExpr }: Tree): Pick<Query, "tables" | "conditions"> {
  if (JoinExpr === undefined) return { tables: RangeVar ? [RangeVar] : [], conditions: [] };
  const sides = [joined(JoinExpr.larg), joined(JoinExpr.rarg)];
  const inner = JoinExpr.jointype === "JOIN_INNER" ? [JoinExpr.quals, ...sides.flatMap((it) => it.conditions)] : [];
  return { tables: sides.flatMap(({ tables }) => tables), conditions: inner };
}

function conjunctsOf(condition: Tree): Tree[] {
  if (condition?.BoolExpr?.boolop === "AND_EXPR") return condition.BoolExpr.args.flatMap(conjunctsOf);
  return condition ? [condition] : [];
}

function restrictedTables({ statement, tables, conditions }: Query): Tree[] {
  const own = tables.filter(isDistributed);
  const restricted = conditions.flatMap(({ A_Expr }) => {
    const isEqual = A_Expr?.kind === "AEXPR_OP" && A_Expr.name[0].String.sval === "=";
    return isEqual && isFirstValue(A_Expr.rexpr) ? [ownerOf(A_Expr.lexpr)] : [];
  });
  return own.filter((table) => {
    if (table === statement.relation && statement.cols) return insertsFirstValue(statement);
    return restricted.includes(nameOf(table)) || (own.length === 1 && restricted.includes(""));
  });
}

const nameOf = ({ alias, relname }: Tree): string => alias?.aliasname ?? relname;

/** Whether the workspace of all inserted rows is `$1`, or comes from a distributed table. */
function insertsFirstValue({ cols, selectStmt: { SelectStmt } }: Tree): boolean {
  const at = cols.findIndex(({ ResTarget }: Tree) => ResTarget.name === "workspace_id");
  const sources = queryOf(SelectStmt).tables.filter(isDistributed).map(nameOf);
  const { valuesLists, targetList = [] } = SelectStmt;
  const rows: Tree[][] = valuesLists
    ? valuesLists.map(({ List }: Tree) => List.items)
    : [targetList.map(({ ResTarget }: Tree) => ResTarget.val)];
  return rows.every((row) => isFirstValue(row[at]) || sources.includes(ownerOf(row[at])!));
}

function isFirstValue(value: Tree): boolean {
  return (value?.TypeCast?.arg ?? value)?.ParamRef?.number === 1;
}

/** Returns the table whose column `workspace_id` an expression is, empty if not named. `undefined` for others. */
function ownerOf(expression: Tree): string | undefined {
  const names = expression?.ColumnRef?.fields.map((field: Tree) => field.String?.sval) ?? [];
  return names.pop() === "workspace_id" ? names.join(".") : undefined;
}
