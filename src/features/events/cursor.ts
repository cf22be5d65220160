import { invalidField } from "../../domain/refusal.ts";
import { readPageToken, writePageToken } from "../../pipeline/page.ts";

/** Matches a position in digits, for consumers that count events themselves. */
const PLAIN_POSITION = /^(0|[1-9][0-9]{0,15})$/;

/** Returns the public cursor for a position in a workspace's feed. */
export function writeCursor(workspace: number, position: number): string {
  return writePageToken([position], { feed: workspace });
}

/**
 * Returns the position after which the caller continues. 0, the beginning of the feed, if there is no cursor.
 *
 * @param cursor from `writeCursor`, or a position in digits
 * @throws Refusal FIELD_INVALID if it is not a cursor of this workspace's feed
 */
export function resolveCursor(workspace: number, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [position, ...others] = PLAIN_POSITION.test(cursor)
    ? [Number(cursor)]
    : (readPageToken(cursor, { feed: workspace }) ?? []);
  if (others.length === 0 && isPosition(position)) return position;
  throw invalidField("after", "is not a cursor of this workspace's events.");
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
