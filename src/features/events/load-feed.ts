import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { type EventContent, type EventRow, toEvent } from "./event-message.ts";

/** Maximum number of events that one query examines. */
const MAX_EXAMINED = 1_000;

export interface FeedPart {
  /** Oldest first. */
  readonly events: readonly EventContent[];
  /**
   * Position of the last examined event, or the given position if no event was examined. The next load continues from
   * here.
   */
  readonly end: number;
  readonly mayHaveMore: boolean;
}

const COLUMNS = `
  position::float8 as position, subject, number, type, data::text as data, actor, api_key as "apiKey", courier,
  date_part('epoch', created_at) * 1000 as "createdMs"`;

const allTypesSql = (next: string) => `
  select ${COLUMNS} from event
  where workspace_id = $1 and ${next} limit $3`;

const OF_ALL_TYPES = allTypesSql("position > $2 order by event.position");
const OF_ALL_TYPES_NEWEST_FIRST = allTypesSql("position < $2 order by event.position desc");

/**
 * Returns SQL that filters events by type. If no event matches, the result is one row without an
 * event, so that the examined position is always known.
 */
const someTypesSql = (next: string, end: "min" | "max", order: "asc" | "desc") => `
  with looked_at as (
    select * from event where workspace_id = $1 and ${next} limit $5
  ), found as (
    select * from looked_at
    where json_array_length($4) = 0 or type = any (array(select json_array_elements_text($4)))
    order by position ${order} limit $3
  )
  select ${COLUMNS}, "examined", "end"
  from (select count(*)::int as "examined", ${end}(position)::float8 as "end" from looked_at) as bounds
    left join found on true
  order by found.position ${order}`;

const OF_SOME_TYPES = someTypesSql("position > $2 order by position", "max", "asc");
const OF_SOME_TYPES_NEWEST_FIRST = someTypesSql("position < $2 order by position desc", "min", "desc");
/** Sorts by number, because the numbers of a subject have the same order as positions. */
const OF_SUBJECT = someTypesSql("position > $2 and subject = $6 order by number", "max", "asc");
const OF_SUBJECT_NEWEST_FIRST = someTypesSql("position < $2 and subject = $6 order by number desc", "min", "desc");

interface FilteredRow extends Omit<EventRow, "position"> {
  readonly position: number | null;
  readonly examined: number;
  readonly end: number | null;
}

interface FeedQuery {
  /** Position after which to load, 0 for the beginning. With `newestFirst`, the position before which to load. */
  readonly after: number;
  /** Event types, empty for all. A filter limits the number of examined events. */
  readonly types: readonly string[];
  /**
   * Shipment's reference or webhook's id. `undefined` for all subjects. A filter limits the number
   * of examined events.
   */
  readonly subject?: string | undefined;
  readonly newestFirst?: boolean;
  readonly limit: number;
}

/**
 * Loads a workspace's events after a position, oldest first. Positions are committed in order, so no event can later
 * appear before a loaded one. With `newestFirst`, loads the events before the position instead.
 */
export async function loadFeed(em: EntityManager, workspace: number, query: FeedQuery): Promise<FeedPart> {
  const { after, types, subject, newestFirst = false, limit } = query;
  if (types.length > 0 || subject !== undefined) return loadSome(em, workspace, query);
  const sql = newestFirst ? OF_ALL_TYPES_NEWEST_FIRST : OF_ALL_TYPES;
  const rows = await runStatement<EventRow>(em, sql, [workspace, after, limit]);
  const end = rows.at(-1)?.position ?? after;
  return { events: rows.map(toEvent), end, mayHaveMore: rows.length === limit };
}

async function loadSome(
  em: EntityManager,
  workspace: number,
  { after, types, subject, newestFirst = false, limit }: FeedQuery,
): Promise<FeedPart> {
  const values = [workspace, after, limit, JSON.stringify(types), MAX_EXAMINED];
  const [oldest, newest] =
    subject === undefined ? [OF_SOME_TYPES, OF_SOME_TYPES_NEWEST_FIRST] : [OF_SUBJECT, OF_SUBJECT_NEWEST_FIRST];
  const rows = await runStatement<FilteredRow>(
    em,
    newestFirst ? newest : oldest,
    subject === undefined ? values : [...values, subject],
  );
  const { examined, end } = rows[0]!;
  const found = rows.filter((row): row is FilteredRow & EventRow => row.position !== null);
  const isFull = found.length === limit;
  return {
    events: found.map(toEvent),
    end: isFull ? found.at(-1)!.position : (end ?? after),
    mayHaveMore: isFull || examined === MAX_EXAMINED,
  };
}

const HAPPENED = `
  select position::float8 as position, subject, type from event
  where workspace_id = $1 and position > $2 order by event.position limit ${MAX_EXAMINED}`;

/** Loads the types and subjects of events after a position, oldest first. */
export async function loadHappened(em: EntityManager, workspace: number, after: number) {
  const happened = await runStatement<Pick<EventRow, "position" | "subject" | "type">>(em, HAPPENED, [
    workspace,
    after,
  ]);
  return { happened, mayHaveMore: happened.length === MAX_EXAMINED };
}

const POSITIONS = `
  select workspace_id::float8 as workspace, position::float8 as position from feed
  where workspace_id = any ($1::bigint[])`;

/** Loads the position of each workspace's newest event. */
export async function loadFeedEnds(
  em: EntityManager,
  workspaces: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await runStatement<{ workspace: number; position: number }>(em, POSITIONS, [workspaces]);
  return new Map(rows.map(({ workspace, position }) => [workspace, position]));
}

const NEWEST = `
  select (date_part('epoch', max(changed_at)) * 1000)::float8 as "changedMs"
  from feed join workspace on workspace.id = feed.workspace_id
  where position > 0 and workspace.twin_of is null`;

/**
 * Loads the time of the newest event in live workspaces, in milliseconds since the epoch. null if
 * there are no events.
 */
export async function loadNewestEventMs(em: EntityManager): Promise<number | null> {
  const [row] = await runStatement<{ changedMs: number | null }>(em, NEWEST);
  return row!.changedMs;
}
