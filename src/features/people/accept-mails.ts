import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_MAILS } from "./request-mail.ts";

const BATCH = 500;

/** Ensures that only one process checks requests at a time. Otherwise two processes could exceed a person's limit. */
const LOCK = "select pg_try_advisory_xact_lock(hashtextextended('mails', 0)) as locked";

/**
 * Selects pending requests, and whether each belongs to a person or operator who has not reached the limit for 15
 * minutes. Finds accounts by the same rules as a sign-in by email. The update is a separate statement, because a
 * distributed database cannot update a coordinator table from tables on all nodes.
 */
const CHECK = `
  with asked as materialized (
    select id, lower(email) as email from mail where state = 'asked' order by id limit ${BATCH}
  ), known as (
    select asked.id, row_number() over (partition by asked.email order by asked.id) + (
        select count(*) from mail as earlier
        where lower(earlier.email) = asked.email and earlier.kind = 'sign_in'
          and earlier.state <> 'asked' and earlier.created_at > now() - interval '15 minutes'
      ) as number
    from asked
    where exists (select from person where lower(person.email) = asked.email)
      or exists (
        select from operator where lower(operator.email) = asked.email
          and kind = 'person' and revoked_at is null)
  )
  select asked.id::float8 as id, coalesce(known.number <= ${MAX_MAILS}, false) as "isAccepted"
  from asked left join known on known.id = asked.id`;

const IDS = "any (array(select value::bigint from json_array_elements_text($1)))";
const ACCEPT = `update mail set state = 'waiting' where id = ${IDS}`;
const DELETE = `delete from mail where id = ${IDS}`;

interface MailCheck {
  readonly id: number;
  readonly isAccepted: boolean;
}

/**
 * Checks requests for sign-in emails in batches. Returns the number of accepted requests. No-op
 * while another process checks them.
 */
export async function acceptMails(em: EntityManager): Promise<number> {
  let count = 0;
  for (;;) {
    const checks = await em.fork().transactional(acceptBatch);
    count += checks.filter(({ isAccepted }) => isAccepted).length;
    if (checks.length < BATCH) return count;
  }
}

async function acceptBatch(tx: EntityManager): Promise<MailCheck[]> {
  const [lock] = await runStatement<{ locked: boolean }>(tx, LOCK);
  if (!lock!.locked) return [];
  const checks = await runStatement<MailCheck>(tx, CHECK);
  for (const [sql, accepted] of [
    [ACCEPT, true],
    [DELETE, false],
  ] as const) {
    const ids = checks.filter(({ isAccepted }) => isAccepted === accepted).map(({ id }) => id);
    if (ids.length > 0) await runStatement(tx, sql, [JSON.stringify(ids)]);
  }
  return checks;
}
