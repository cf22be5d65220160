import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

const MAX_COUNTED = 10_000;

export interface MailBacklog {
  /** Number of pending emails, counted up to 10,000 per table. */
  readonly waiting: number;
  /** Request time of the oldest pending email, in milliseconds since the epoch. null if no email is pending. */
  readonly oldestMs: number | null;
}

/** One query per table, because a distributed database stores the tables on different nodes. */
const BACKLOGS = ["mail", "recipient_notice", "courier_link"].map(
  (table) => `
  select count(*)::float8 as waiting,
    (extract(epoch from min(created_at)) * 1000)::float8 as "oldestMs"
  from (select created_at from ${table} where state = 'waiting' limit ${MAX_COUNTED}) as waiting`,
);

/** Loads the backlog of emails to people, recipients and couriers. */
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
