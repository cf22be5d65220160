import type { EntityManager } from "../../db/orm.ts";
import { OPERATOR_LIMITS } from "../../domain/rate-limit.ts";
import type { OperatorCaller } from "../../pipeline/call.ts";
import { createKeyCache, type KeyCache, type LoadedKey } from "../credentials/key-cache.ts";
import { createKey, isWorking, OLDEST_FIRST } from "../credentials/secret-keys.ts";
import { OperatorKey } from "./operator-key.entity.ts";
import { Operator } from "./operator.entity.ts";

export const MAX_OPERATOR_KEYS = 20;

/**
 * Creates a key of an operator.
 *
 * @returns its id and the secret key, of which only the hash is stored
 */
export async function insertOperatorKey(
  tx: EntityManager,
  operator: number,
  name: string | null = null,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { secret, stored } = createKey("sho_");
  await tx.insert(OperatorKey, { ...stored, operator, name });
  return { secret, id: stored.id };
}

/** Loads the active keys of operators, oldest first. */
export async function loadWorkingKeys(em: EntityManager, ...operators: readonly number[]): Promise<OperatorKey[]> {
  const where = { operator: { $in: [...operators] }, ...isWorking() };
  return em.find(OperatorKey, where, { orderBy: OLDEST_FIRST, refresh: true });
}

/** Cache that finds the operator of a key. */
export type OperatorKeyCache = KeyCache<OperatorCaller>;

export function createOperatorKeyCache(em: EntityManager): OperatorKeyCache {
  return createKeyCache("operator_key", (hash) => loadKey(em.fork(), hash));
}

async function loadKey(em: EntityManager, hash: string): Promise<LoadedKey<OperatorCaller> | undefined> {
  const key = await em.findOne(OperatorKey, { hash, ...isWorking() });
  if (key === null) return undefined;
  const { id, name, role } = await em.findOneOrFail(Operator, key.operator);
  const caller: OperatorCaller = {
    audience: "operator",
    account: `operator ${id}`,
    actor: "operator",
    operatorId: id,
    keyId: key.id,
    name,
    role,
    limits: OPERATOR_LIMITS,
  };
  return { caller, endsAt: key.endsAt, changedAt: key.changedAt };
}
