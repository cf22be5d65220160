import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { CHANGES_CHANNEL, type Reader } from "../../db/change-feed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { QUOTE_KEY_BYTES, toQuoteKey, type QuoteKey } from "../../domain/pricing/sealed-quote.ts";
import { unavailable } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";

/** Quote keys in memory, so that quotes can be created during a database outage. */
export type QuoteKeys = ReturnType<typeof createQuoteKeys>;

/**
 * Age at which a key is replaced, in hours. To reach 2^32 quotes, the limit for random nonces, a
 * key would have to seal 99,000 per second.
 */
const SEALS_HOURS = 12;
/**
 * Age at which a key starts to seal, in seconds. By then, all processes have read the key. The
 * first key seals immediately.
 */
const KNOWN_AFTER_SECONDS = 60;
/**
 * Minimum retention of a key, in hours. A process without database access keeps sealing with the
 * last key it read, and quotes are valid for up to an hour.
 */
const KEPT_HOURS = 72;
/** Maximum retention of a key, in hours. Old keys are deleted when a new key is created. */
export const OPENS_HOURS = KEPT_HOURS + SEALS_HOURS;

const SELECT = `
  select id, secret,
    (extract(epoch from statement_timestamp() - created_at))::float8 as "ageSeconds"
  from quote_key order by id desc`;

/** Inserts a key. If several processes insert concurrently, one succeeds, and all processes read its key. */
const INSERT = `
  with inserted as (
    insert into quote_key (id, secret, created_at)
    values ($1, $2, date_trunc('milliseconds', statement_timestamp()))
    on conflict (id) do nothing returning id
  )
  select pg_notify($3, '') from inserted`;

const DELETE_OLD = `
  delete from quote_key where created_at < statement_timestamp() - interval '${KEPT_HOURS} hours'`;

interface KeyRow {
  readonly id: number;
  readonly secret: string;
  readonly ageSeconds: number;
}

interface KnownKey {
  readonly secret: string;
  /** Decrypted key. `undefined` if it cannot be decrypted. */
  readonly key: QuoteKey | undefined;
}

export function createQuoteKeys(seal: SecretSeal, log: Pick<Logger, "error">) {
  let known = new Map<number, KnownKey>();
  let current: QuoteKey | undefined;

  async function load(reader: Reader): Promise<KeyRow[]> {
    const { rows } = await reader.query<KeyRow>(SELECT);
    known = new Map(
      rows.map((row) => {
        const before = known.get(row.id);
        // The secret changes when it is resealed or the database is restored.
        return [row.id, before?.secret === row.secret ? before : openKey(row)];
      }),
    );
    const usable = rows.filter(({ id }) => byId(id) !== undefined);
    const sealing = usable.find(({ ageSeconds }) => ageSeconds >= KNOWN_AFTER_SECONDS);
    // If all keys are new, other processes have most likely read the oldest of them.
    const next = sealing ?? usable.at(-1);
    if (next !== undefined) current = byId(next.id);
    return rows;
  }

  const byId = (id: number) => known.get(id)?.key;

  function openKey({ id, secret }: KeyRow): KnownKey {
    const opened = seal.open(secret, sealContext(id));
    if (opened !== undefined) {
      return { secret, key: toQuoteKey(id, Buffer.from(opened, "base64url")) };
    }
    log.error({ key: id }, "no key in SECRETS_KEYS decrypts a quote key");
    return { secret, key: undefined };
  }

  /** Whether the newest usable key must be replaced. */
  function isDue(rows: readonly KeyRow[]): boolean {
    const newest = rows.find(({ id }) => byId(id) !== undefined);
    return newest === undefined || newest.ageSeconds >= SEALS_HOURS * 3_600;
  }

  return {
    /**
     * Returns the key that seals new quotes.
     *
     * @throws Refusal UNAVAILABLE before the first `refresh`
     */
    current(): QuoteKey {
      if (current === undefined) throw unavailable("The service is starting. Try again in a moment.");
      return current;
    },
    /** Returns a key by id. `undefined` if the key does not exist, was deleted or cannot be decrypted. */
    byId,
    /** Reads the keys, and creates a new key if the newest one is too old. */
    async refresh(reader: Reader): Promise<void> {
      const rows = await load(reader);
      if (!isDue(rows)) return;
      const id = (rows[0]?.id ?? 0) + 1;
      const secret = randomBytes(QUOTE_KEY_BYTES).toString("base64url");
      await reader.query(INSERT, [id, seal.seal(secret, sealContext(id)), CHANGES_CHANNEL]);
      await reader.query(DELETE_OLD);
      await load(reader);
    },
  };
}

/**
 * Reseals quote keys that are stored unencrypted or were sealed with an earlier key.
 *
 * @returns the number of resealed keys
 */
export async function sealQuoteKeys(em: EntityManager, seal: SecretSeal): Promise<number> {
  const stored = await runStatement<Pick<KeyRow, "id" | "secret">>(em, "select id, secret from quote_key");
  let count = 0;
  for (const { id, secret } of stored) {
    const opened = seal.isCurrent(secret) ? undefined : seal.open(secret, sealContext(id));
    if (opened === undefined) continue;
    const sql = "update quote_key set secret = $2 where id = $1 and secret = $3 returning id";
    const values = [id, seal.seal(opened, sealContext(id)), secret];
    count += (await runStatement(em, sql, values)).length;
  }
  return count;
}

function sealContext(id: number): string {
  return `quote_key ${id}`;
}
