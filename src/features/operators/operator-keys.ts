import { sql } from "@mikro-orm/postgresql";
import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { hashKey, lastFour, mintKey, mintKeyId } from "../../domain/secret-key.ts";
import { isWorking } from "../credentials/is-working.ts";
import { OperatorKey } from "./operator-key.entity.ts";

/** How many keys of an operator can work at the same time; beyond that the oldest end at once. */
export const MAX_OPERATOR_KEYS = 20;

/**
 * The database's clock, by which later changes are told from earlier ones, in the whole milliseconds
 * that are stored. Not the time at which the transaction began: it may have waited for another.
 */
const now = () => sql<Date>`date_trunc('milliseconds', clock_timestamp())`;

/** A key that was just made. */
export interface NewOperatorKey {
  /** The secret key, which cannot be read again: only its hash is stored. */
  readonly secret: string;
  readonly id: string;
}

/** Gives an operator a new key, in the caller's transaction. */
export async function addOperatorKey(tx: EntityManager, operator: number): Promise<NewOperatorKey> {
  const secret = mintKey("sho_");
  const id = mintKeyId();
  await tx.insert(OperatorKey, {
    hash: hashKey(secret),
    operator,
    id,
    last4: lastFour(secret),
    createdAt: now(),
    changedAt: now(),
  });
  return { secret, id };
}

/** The keys of some operators that work, oldest first, by the database's clock. */
export async function workingKeys(
  em: EntityManager,
  operators: readonly number[],
): Promise<Map<number, OperatorKey[]>> {
  const keys = await em.find(
    OperatorKey,
    { operator: { $in: [...operators] }, ...isWorking() },
    { orderBy: { createdAt: "asc", id: "asc" }, refresh: true },
  );
  return Map.groupBy(keys, ({ operator }) => operator);
}

/**
 * Ends the keys of an operator after some seconds; those that were to end sooner still do. Call
 * `evictKeys` after it.
 *
 * @param keys which of them, by id; all when not given
 */
export async function endKeys(
  tx: EntityManager,
  operator: number,
  afterSeconds: number,
  keys?: readonly string[],
): Promise<void> {
  const end = sql`${now()} + make_interval(secs => ${afterSeconds})`;
  await tx.nativeUpdate(
    OperatorKey,
    {
      operator,
      ...(keys === undefined ? {} : { id: { $in: [...keys] } }),
      $or: [{ endsAt: null }, { endsAt: { $gt: end } }],
    },
    { endsAt: end },
  );
}

/** Has every process read an operator anew, with whom its keys are cached, when the transaction commits. */
export async function evictKeys(tx: EntityManager, operator: number): Promise<void> {
  await tx.nativeUpdate(OperatorKey, { operator }, { changedAt: now() });
  await announceChange(tx);
}
