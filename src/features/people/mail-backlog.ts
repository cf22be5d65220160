import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

const MAX_COUNTED = 10_000;

/** The mails that have not been sent and not been given up. */
export interface MailBacklog {
  /** How many, up to 10,000. */
  readonly waiting: number;
  /** When the oldest of them was asked for, in milliseconds since the epoch; null for none. */
  readonly oldestMs: number | null;
}

/** One for each table: a distributed database has them at different nodes. */
const BACKLOGS = ["mail", "recipient_notice"].map(
  (table) => `
  select count(*)::float8 as waiting,
    (extract(epoch from min(created_at)) * 1000)::float8 as "oldestMs"
  from (select created_at from ${table} where state = 'waiting' limit ${MAX_COUNTED}) as waiting`,
);

/** How many mails and notices wait, and since when. */
export async function loadMailBacklog(em: EntityManager): Promise<MailBacklog> {
  const backlogs: MailBacklog[] = [];
  for (const sql of BACKLOGS) backlogs.push(...(await runStatement<MailBacklog>(em, sql)));
  const oldest = backlogs.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    waiting: Math.min(
      backlogs.reduce((sum, { waiting }) => sum + waiting, 0),
      MAX_COUNTED,
    ),
    oldestMs: oldest.length === 0 ? null : Math.min(...oldest),
  };
}
