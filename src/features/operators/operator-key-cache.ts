import type { EntityManager } from "../../db/orm.ts";
import { OPERATOR_LIMITS } from "../../domain/rate-limit.ts";
import type { OperatorCaller } from "../../pipeline/call.ts";
import { createKeyCache, type FoundKey, type KeyCache } from "../credentials/key-cache.ts";
import { isWorking } from "../credentials/is-working.ts";
import { OperatorKey } from "./operator-key.entity.ts";
import { Operator } from "./operator.entity.ts";

/** Finds the operator that a key belongs to, mostly from memory. */
export type OperatorKeyCache = KeyCache<OperatorCaller>;

/** Builds the cache of operators' keys. */
export function createOperatorKeyCache(em: EntityManager): OperatorKeyCache {
  return createKeyCache("operator_key", (hash) => readKey(em.fork(), hash));
}

async function readKey(
  em: EntityManager,
  hash: string,
): Promise<FoundKey<OperatorCaller> | undefined> {
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
  return { caller, endsAt: key.endsAt ?? null, changedAt: key.changedAt };
}
