import { PREFIX_MARK, SEPARATORS } from "../domain/search-text.ts";
import type { EntityManager } from "./orm.ts";
import { serversOf } from "./servers-of.ts";
import { runStatement } from "./statement.ts";
import { readOnly } from "./transaction.ts";

/**
 * Returns SQL for the words in texts, in lower case, as a tsvector.
 *
 * @param texts expressions over columns, null counts as empty. Words have at most 500 characters
 * @param prefix SQL for the text before each word, which ends with `PREFIX_MARK`
 */
export function wordsOf(texts: readonly string[], prefix = `'${PREFIX_MARK}'`): string {
  const text = texts.map((one) => `coalesce(${one}, '')`).join(" || ' ' || ");
  return `array_to_tsvector(string_to_array(${prefix} || regexp_replace(lower(${text}), '${SEPARATORS}', ' ' || ${prefix}, 'g'), ' '))`;
}

/** Placeholder condition. `searchWords` replaces it, so that PostgreSQL uses only the word index. */
const WORKSPACE_CONDITION = "workspace_id = $1 /* by words */";

/**
 * Runs a statement that contains `WordIndex.matches`.
 *
 * @param values the workspace first
 */
export async function searchWords<Row>(em: EntityManager, sql: string, values: readonly unknown[]): Promise<Row[]> {
  const { unindexedWorkspace } = await serversOf(em);
  return readOnly(em, async (tx) => {
    await runStatement(tx, "set local enable_seqscan = off");
    return runStatement<Row>(tx, sql.replaceAll(WORKSPACE_CONDITION, unindexedWorkspace), values);
  });
}

/** Maximum number of matching rows that a search compares. */
export const MAX_MATCHES = 1_000;

/**
 * Word index of a table, divided by workspace and slot, such as a week. A search for frequent words reads one slot,
 * because PostgreSQL collects all matches from a GIN index before it returns the first. A search for rare words reads
 * all slots.
 */
export interface WordIndex {
  /** SQL for the indexed words, as an expression over columns. */
  readonly words: string;
  /**
   * Returns SQL for the rows of the workspace `$1` that contain all words of a query, slot by slot and
   * otherwise unordered. `searchQuery` creates the query and `searchWords` runs the SQL.
   */
  matches(columns: string, query: string): string;
}

/**
 * Creates the index and query expressions of a table.
 *
 * @param slot SQL for the slot of a row, as an expression over columns
 * @param slots SQL for all slots, as an array
 */
export function wordIndex(table: string, texts: readonly string[], slot: string, slots: string): WordIndex {
  const words = wordsOf(texts, `workspace_id::text || '.' || ${slot} || '${PREFIX_MARK}'`);
  return {
    words,
    matches: (columns, query) => {
      const prefix = `$1::bigint::text || '.' || slot || '${PREFIX_MARK}'`;
      return `select ${columns} from unnest(${slots}) as slot cross join lateral (
        select * from ${table} where ${WORKSPACE_CONDITION} and ${words} @@ replace(lower(${query}), '${PREFIX_MARK}', ${prefix})::tsquery) as ${table}`;
    },
  };
}
