import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { endKeys, newKey } from "../credentials/secret-keys.ts";
import { isWorking } from "../credentials/is-working.ts";
import { OperatorKey } from "./operator-key.entity.ts";

/** How many keys of an operator can work at the same time; beyond that the oldest end at once. */
export const MAX_OPERATOR_KEYS = 20;

/** A key that was just made. */
export interface NewOperatorKey {
  /** The secret key, which cannot be read again: only its hash is stored. */
  readonly secret: string;
  readonly id: string;
}

/**
 * Gives an operator a new key, in the caller's transaction.
 *
 * @param name what it is for; null when nobody says
 */
export async function addOperatorKey(
  tx: EntityManager,
  operator: number,
  name: string | null = null,
): Promise<NewOperatorKey> {
  const { secret, stored } = newKey("sho_");
  await tx.insert(OperatorKey, { ...stored, operator, name });
  return { secret, id: stored.id };
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

/** As `workingKeys`, of one operator. */
export async function workingKeysOf(em: EntityManager, operator: number): Promise<OperatorKey[]> {
  return (await workingKeys(em, [operator])).get(operator) ?? [];
}

/** Ends keys of operators, as `endKeys` does. */
export function endOperatorKeys(
  tx: EntityManager,
  keys: readonly OperatorKey[],
  afterSeconds: number,
): Promise<void> {
  const hashes = keys.map(({ hash }) => hash);
  return endKeys(tx, "operator_key", hashes, afterSeconds);
}

/**
 * The key of an id among the working keys of an operator.
 *
 * @throws Refusal API_KEY_NOT_FOUND, the same for an unknown key, one that has ended and another's
 */
export function pickOperatorKey(working: readonly OperatorKey[], id: string): OperatorKey {
  const found = working.find((key) => key.id === id);
  if (found === undefined) throw refuse("API_KEY_NOT_FOUND", "There is no such key.");
  return found;
}
