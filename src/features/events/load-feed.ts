import { sql, type FilterQuery } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readPageToken, writePageToken } from "../../pipeline/page.ts";
import { refuse } from "../../domain/refusal.ts";
import { Event } from "./event.entity.ts";
import { isEventNumber, isSubject } from "./event-message.ts";

/** A position in a workspace's feed: the sort key of the event before it. */
export type FeedPosition = Pick<Event, "transaction" | "subject" | "number">;

/**
 * The oldest transaction in flight. It may still commit events that sort before those of later
 * transactions, so the feed ends before it.
 */
const OLDEST_IN_FLIGHT = sql`((pg_snapshot_xmin(pg_current_snapshot()))::text)::bigint`;

/**
 * Loads the workspace's events after a position, oldest first, as far as their order is final: no
 * event can later appear before one that was loaded.
 *
 * @param options.after undefined for the beginning
 * @param options.types all types when empty
 */
export function loadFeed(
  em: EntityManager,
  workspace: number,
  options: {
    readonly after: FeedPosition | undefined;
    readonly types: readonly string[];
    readonly limit: number;
  },
): Promise<Event[]> {
  const { after, types, limit } = options;
  const conditions: FilterQuery<Event>[] = [
    { workspace },
    { transaction: { $lt: OLDEST_IN_FLIGHT } },
  ];
  if (types.length > 0) conditions.push({ type: { $in: types as Event["type"][] } });
  if (after !== undefined) conditions.push(...afterPosition(after));
  return em.find(
    Event,
    { $and: conditions },
    { orderBy: { transaction: "asc", subject: "asc", number: "asc" }, limit },
  );
}

const FEED_ENDS = `
  select asked.workspace::float8 as workspace, newest.transaction::float8 as transaction,
    newest.subject, newest.number
  from json_to_recordset($1) as asked (workspace bigint)
  cross join lateral (
    select transaction, subject, number from event
    where workspace_id = asked.workspace
      and transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    order by transaction desc, subject desc, number desc limit 1
  ) as newest`;

/**
 * Where feeds end, as far as their order is final, as cursors by workspace; those that are empty are
 * left out.
 */
export async function loadFeedEnds(
  em: EntityManager,
  workspaces: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const asked = JSON.stringify(workspaces.map((workspace) => ({ workspace })));
  const rows = await runStatement<FeedPosition & { workspace: number }>(em, FEED_ENDS, [asked]);
  return new Map(rows.map((row) => [row.workspace, writeCursor(row.workspace, row)]));
}

function afterPosition({ transaction, subject, number }: FeedPosition): FilterQuery<Event>[] {
  // The first condition bounds the index scan; the second orders the events of one transaction.
  return [
    { transaction: { $gte: transaction } },
    {
      $or: [
        { transaction: { $gt: transaction } },
        { subject: { $gt: subject } },
        { subject, number: { $gt: number } },
      ],
    },
  ];
}

/** The public cursor for a position in a workspace's feed. */
export function writeCursor(workspace: number, position: FeedPosition): string {
  const { transaction, subject, number } = position;
  return writePageToken([transaction, subject, number], { feed: workspace });
}

/**
 * The position in a cursor; undefined, for the beginning, when there is no cursor.
 *
 * @throws Refusal FIELD_INVALID when it is not a cursor of this workspace's feed
 */
export function parseCursor(
  workspace: number,
  cursor: string | undefined,
): FeedPosition | undefined {
  if (cursor === undefined) return undefined;
  const [transaction, subject, number] = readPageToken(cursor, { feed: workspace }) ?? [];
  if (isTransaction(transaction) && isSubject(subject) && isEventNumber(number)) {
    return { transaction, subject, number };
  }
  throw refuse("FIELD_INVALID", "after is not a cursor of this workspace's events.", {
    subject: "after",
  });
}

function isTransaction(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
