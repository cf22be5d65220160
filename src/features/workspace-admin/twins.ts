import { sql } from "@mikro-orm/postgresql";
import type { Logger } from "pino";
import { isDistributed } from "../../db/distributed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { Feed } from "../events/feed.entity.ts";
import { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Inserts the test twin of a live workspace, with the payment provider `test`; does nothing when there
 * is one.
 *
 * @returns the id of the twin
 */
export async function insertTwin(
  tx: EntityManager,
  live: { readonly id: number; readonly name: string },
): Promise<number> {
  await lockNewWorkspaces(tx);
  const [inserted] = await runStatement<{ id: number }>(tx, INSERT_TWIN, [live.name, live.id]);
  if (inserted === undefined) return (await tx.findOneOrFail(Workspace, { twinOf: live.id })).id;
  const { id } = inserted;
  const connection = { provider: "test", connectedAt: sql`now()` } as const;
  await tx.insert(PaymentConnection, { workspace: id, ...connection });
  await tx.insert(Feed, { workspace: id, changedAt: sql`now()` });
  return id;
}

/**
 * Has those who insert workspaces into a distributed database wait for each other until the end of their
 * transactions: two that each insert one and its twin may wait for each other in a circle there.
 */
export async function lockNewWorkspaces(tx: EntityManager): Promise<void> {
  if (!(await isDistributed(tx))) return;
  await runStatement(tx, "select pg_advisory_xact_lock(hashtextextended('new workspaces', 0))");
}

const INSERT_TWIN = `
  insert into workspace (name, created_at, twin_of) values ($1, now(), $2)
  on conflict (twin_of) do nothing returning id::float8 as id`;

/** How many workspaces one statement looks at. */
const BATCH = 1_000;

/**
 * The workspaces after the id `$1`, with whether their twin is missing, and whether they are so old that no
 * transaction can still insert one with a smaller id.
 */
const NEXT_WORKSPACES = `
  select next.id::float8 as id, next.name, next.twin_of is null and twin.id is null as "isAlone",
    next.created_at < now() - interval '1 hour' as "isOld"
  from (select * from workspace where id > $1 order by id limit ${BATCH}) as next
  left join lateral (
    select id from workspace where twin_of = next.id limit 1
  ) as twin on true
  order by next.id`;

interface NextWorkspace {
  readonly id: number;
  readonly name: string;
  readonly isAlone: boolean;
  readonly isOld: boolean;
}

/** How often to look for workspaces without a twin, in milliseconds. */
const LOOK_MS = 60_000;

/**
 * Builds what inserts the twins of workspaces that have none, as those made by an earlier release, each
 * in a transaction of its own. It gives when to look again, in milliseconds, and never rejects.
 */
export function createInsertTwins(em: EntityManager, log: Pick<Logger, "warn">) {
  /** Up to here all have twins: the first look is at all workspaces, each further one at those of an hour. */
  let doneTo = 0;

  async function insertAll(signal: AbortSignal): Promise<void> {
    let after = doneTo;
    for (;;) {
      const found = await runStatement<NextWorkspace>(em, NEXT_WORKSPACES, [after]);
      for (const { id, name, isAlone, isOld } of found) {
        if (signal.aborted) return;
        if (isAlone) await em.fork().transactional((tx) => insertTwin(tx, { id, name }));
        if (isOld) doneTo = id;
        after = id;
      }
      if (found.length < BATCH) return;
    }
  }
  return async (signal: AbortSignal): Promise<number> => {
    await insertAll(signal).catch((error: unknown) => {
      log.warn({ err: error }, "test twins could not be made");
    });
    return LOOK_MS;
  };
}
