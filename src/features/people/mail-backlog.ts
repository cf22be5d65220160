import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** The mails that have not been sent and not been given up. */
export interface MailBacklog {
  /** How many, up to 10,000. */
  readonly waiting: number;
  /** When the oldest of them was asked for, in milliseconds since the epoch; null for none. */
  readonly oldestMs: number | null;
}

const BACKLOG = `
  select count(*)::float8 as waiting,
    (extract(epoch from min(created_at)) * 1000)::float8 as "oldestMs"
  from (select created_at from mail where state = 'waiting' limit 10000) as waiting`;

/** How many mails wait, and since when. */
export async function loadMailBacklog(em: EntityManager): Promise<MailBacklog> {
  const [backlog] = await runStatement<MailBacklog>(em, BACKLOG);
  return backlog!;
}
