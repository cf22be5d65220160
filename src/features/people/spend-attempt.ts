import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";

/**
 * Notes that an attempt to sign in at an identity provider has come to its end.
 *
 * @param state by which the attempt is told from others
 * @param seconds how long an attempt lasts at most; kept for twice as long, as clocks differ
 * @returns false when it had come to its end before
 */
export async function spendAttempt(
  em: EntityManager,
  state: string,
  seconds: number,
): Promise<boolean> {
  const spent = await runStatement(
    em.fork(),
    `insert into spent_attempt (hash, ends_at) values ($1, now() + make_interval(secs => $2))
     on conflict do nothing returning 1`,
    [hashKey(state), 2 * seconds],
  );
  return spent.length > 0;
}
