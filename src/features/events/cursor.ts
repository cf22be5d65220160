import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import { readPageToken, writePageToken } from "../../pipeline/page.ts";
import { isEventNumber, isSubject } from "./event-message.ts";

/** A position as a consumer writes it that counts events itself. */
const PLAIN_POSITION = /^(0|[1-9][0-9]{0,15})$/;

/** The public cursor for a position in a workspace's feed. */
export function writeCursor(workspace: number, position: number): string {
  return writePageToken([position], { feed: workspace });
}

/**
 * The position after which a caller wants to go on: 0, for the beginning, when there is no cursor.
 *
 * @param cursor as `writeCursor` or a release before positions gave it, or a position in digits
 * @throws Refusal FIELD_INVALID when it is not a cursor of this workspace's feed
 */
export async function resolveCursor(
  em: EntityManager,
  workspace: number,
  cursor: string | undefined,
): Promise<number> {
  if (cursor === undefined) return 0;
  const values = PLAIN_POSITION.test(cursor)
    ? [Number(cursor)]
    : (readPageToken(cursor, { feed: workspace }) ?? []);
  const [first, subject, number] = values;
  if (values.length === 1 && isPosition(first)) return first;
  if (isPosition(first) && isSubject(subject) && isEventNumber(number)) {
    return findPosition(em, workspace, { transaction: first, subject, number });
  }
  throw refuse("FIELD_INVALID", "after is not a cursor of this workspace's events.", {
    subject: "after",
  });
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** What cursors held before events had positions: the sort key of the event before. */
interface SortKey {
  readonly transaction: number;
  readonly subject: string;
  readonly number: number;
}

/**
 * Transactions that overlap can have taken positions in another order than their ids: whoever has seen the
 * event has seen none after it in the order of ids, so goes on before the first of these.
 */
const FIND_POSITION = `
  select least(seen.position, min(unseen.position) - 1)::float8 as position
  from event as seen
  left join event as unseen on unseen.workspace_id = $1
    and unseen.position between seen.position - 1000 and seen.position
    and (unseen.transaction, unseen.subject, unseen.number) > ($2, $3, $4)
  where seen.workspace_id = $1 and seen.subject = $3 and seen.number = $4
  group by seen.position`;

/** The position for a cursor of before; that of the beginning when its event is purged. */
async function findPosition(
  em: EntityManager,
  workspace: number,
  { transaction, subject, number }: SortKey,
): Promise<number> {
  const values = [workspace, transaction, subject, number];
  const [found] = await runStatement<{ position: number }>(em, FIND_POSITION, values);
  return found?.position ?? 0;
}
