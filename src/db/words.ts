import { PREFIX_MARK, SEPARATORS } from "../domain/search-text.ts";
import { isDistributed } from "./distributed.ts";
import type { EntityManager } from "./orm.ts";
import { runStatement } from "./statement.ts";
import { readOnly } from "./transaction.ts";

/**
 * SQL for the words of texts, in lower case, as a tsvector.
 *
 * @param texts expressions over columns; null is empty. No word may be longer than 500 characters
 * @param prefix SQL for the text before each word, which ends with `PREFIX_MARK`
 */
export function wordsOf(texts: readonly string[], prefix = `'${PREFIX_MARK}'`): string {
  const text = texts.map((one) => `coalesce(${one}, '')`).join(" || ' ' || ");
  return `array_to_tsvector(string_to_array(${prefix} || regexp_replace(lower(${text}), '${SEPARATORS}', ' ' || ${prefix}, 'g'), ' '))`;
}

/** Marks the condition that `searchWords` replaces. */
const OF_WORKSPACE = "workspace_id = $1 /* by words */";
/** No index has it, so that PostgreSQL can read the rows by their words alone. */
const OF_WORKSPACE_WITHOUT_INDEX = "workspace_id + 0 = $1";

/**
 * Runs a statement with `WordIndex.found`. A distributed database finds its node by the workspace.
 *
 * @param values the workspace first
 */
export async function searchWords<Row>(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const distributed = await isDistributed(em);
  const text = distributed ? sql : sql.replaceAll(OF_WORKSPACE, OF_WORKSPACE_WITHOUT_INDEX);
  return readOnly(em, async (tx) => {
    await runStatement(tx, "set local enable_bitmapscan = on");
    return runStatement<Row>(tx, text, values);
  });
}

/** How many rows with the same words are compared at most. */
export const MOST_FOUND = 1_000;

/**
 * An index of words of the rows of a table, by workspace and slot. All slots have about as many rows. So a search for
 * frequent words reads one slot, and one for rare words looks into each: PostgreSQL collects all rows with a word of a
 * GIN index before it returns the first.
 */
export interface WordIndex {
  /** SQL for the indexed words, over columns. */
  readonly words: string;
  /**
   * SQL for the rows of the workspace `$1` with all words of a query that `searchQuery` writes, slot by slot, in no order.
   * `searchWords` runs it.
   */
  found(columns: string, query: string): string;
}

/**
 * @param slot SQL for the slot of a row, over columns
 * @param slots SQL for all slots, as an array
 */
export function wordIndex(
  table: string,
  texts: readonly string[],
  slot: string,
  slots: string,
): WordIndex {
  const words = wordsOf(texts, `workspace_id::text || '.' || ${slot} || '${PREFIX_MARK}'`);
  return {
    words,
    found: (columns, query) => {
      const prefix = `$1::bigint::text || '.' || slot || '${PREFIX_MARK}'`;
      return `select ${columns} from unnest(${slots}) as slot cross join lateral (
        select * from ${table} where ${OF_WORKSPACE} and ${words} @@ replace(lower(${query}), '${PREFIX_MARK}', ${prefix})::tsquery) as ${table}`;
    },
  };
}
