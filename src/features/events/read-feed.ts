import { sql, type FilterQuery } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { readPageToken, writePageToken } from "../../domain/page-token.ts";
import { refuse } from "../../domain/refusal.ts";
import { Event } from "./event.entity.ts";

/** A place in a workspace's feed: just after an event. */
export type FeedPosition = Pick<Event, "transaction" | "subject" | "number">;

/**
 * Every transaction before this one has ended. An event of one that has not might still appear
 * among later ones, so those wait for it.
 */
const FIRST_UNDER_WAY = sql`((pg_snapshot_xmin(pg_current_snapshot()))::text)::bigint`;

/**
 * The workspace's events after a position, oldest first, as far as their order is settled: what is
 * read once is never preceded by anything new, however late that commits.
 */
export function readFeed(
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
    { transaction: { $lt: FIRST_UNDER_WAY } },
  ];
  if (types.length > 0) conditions.push({ type: { $in: types as Event["type"][] } });
  if (after !== undefined) conditions.push(...isAfter(after));
  return em.find(
    Event,
    { $and: conditions },
    { orderBy: { transaction: "asc", subject: "asc", number: "asc" }, limit },
  );
}

function isAfter({ transaction, subject, number }: FeedPosition): FilterQuery<Event>[] {
  // The first half bounds the index; the second tells apart what one transaction wrote.
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

/** The cursor for callers of a place in a workspace's feed. */
export function writeCursor(workspace: number, position: FeedPosition): string {
  const { transaction, subject, number } = position;
  return writePageToken([transaction, subject, number], { feed: workspace });
}

/**
 * The place that a cursor stands for; undefined, for the beginning, when there is none.
 *
 * @throws Refusal FIELD_INVALID when it is not a cursor of this workspace's
 */
export function readCursor(
  workspace: number,
  cursor: string | undefined,
): FeedPosition | undefined {
  if (cursor === undefined) return undefined;
  const [transaction, subject, number] = readPageToken(cursor, { feed: workspace }) ?? [];
  if (isCount(transaction) && typeof subject === "string" && isCount(number)) {
    return { transaction, subject, number };
  }
  throw refuse("FIELD_INVALID", "after is not a cursor of this workspace's events.", {
    subject: "after",
  });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
