import type { EntityManager } from "../../db/orm.ts";
import { endKeys } from "../credentials/secret-keys.ts";
import { ApiKey } from "./api-key.entity.ts";

/** How a key has come to end. */
export interface EndedKey {
  readonly id: string;
  /** When it was to end before; null for no end. */
  readonly before: Date | null;
  readonly endsAt: Date;
}

/** Ends keys of workspaces as `endKeys` does, and tells how, in the order given. */
export async function endApiKeys(
  tx: EntityManager,
  keys: readonly ApiKey[],
  afterSeconds: number,
): Promise<EndedKey[]> {
  const hashes = keys.map(({ hash }) => hash);
  const before = keys.map(({ endsAt }) => endsAt ?? null);
  await endKeys(tx, "api_key", hashes, afterSeconds);
  const ended = await tx.find(ApiKey, { hash: { $in: hashes } }, { refresh: true });
  const endsAt = new Map(ended.map((key) => [key.id, key.endsAt!]));
  return keys.map(({ id }, i) => ({ id, before: before[i]!, endsAt: endsAt.get(id)! }));
}
