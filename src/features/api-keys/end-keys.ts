import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { ApiKey } from "./api-key.entity.ts";
import { NEXT_CHANGE } from "./evict-keys.ts";

/** How a key has come to end. */
export interface EndedKey {
  readonly id: string;
  /** When it was to end before; null for no end. */
  readonly before: Date | null;
  readonly endsAt: Date;
}

/**
 * Ends keys after some seconds, or when they were to end anyway, whichever is sooner; 0 for at once.
 * Every process knows within a second.
 */
export async function endKeys(
  tx: EntityManager,
  keys: readonly ApiKey[],
  afterSeconds: number,
): Promise<EndedKey[]> {
  const before = new Map(keys.map(({ id, endsAt }) => [id, endsAt ?? null]));
  const hashes = keys.map(({ hash }) => hash);
  await runStatement(tx, END_KEYS, [JSON.stringify(hashes), afterSeconds]);
  await announceChange(tx);
  const ended = await tx.find(ApiKey, { hash: { $in: hashes } }, { refresh: true });
  return ended.map(({ id, endsAt }) => ({ id, before: before.get(id)!, endsAt: endsAt! }));
}

/** `least` leaves out what is null. */
const END_KEYS = `
  update api_key
  set ends_at = least(ends_at, now() + make_interval(secs => $2)), changed_at = ${NEXT_CHANGE}
  where hash in (select jsonb_array_elements_text($1::jsonb))`;
