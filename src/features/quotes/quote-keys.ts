import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { CHANGES_CHANNEL, type Reader } from "../../db/change-feed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { QUOTE_KEY_BYTES, toQuoteKey, type QuoteKey } from "../../domain/pricing/sealed-quote.ts";
import { unavailable } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";

/** The keys that seal quotes, in memory, so that quotes go on while the database is away. */
export interface QuoteKeys {
  /**
   * The key that seals now.
   *
   * @throws Refusal UNAVAILABLE before the first `refresh`
   */
  current(): QuoteKey;
  /** The key of an id; undefined for one that there is not, or no longer. */
  byId(id: number): QuoteKey | undefined;
  /** Reads the keys, and creates the next one when that is due. */
  refresh(reader: Reader): Promise<void>;
}

/** How long a key seals: 2^32 quotes, as many as may have random nonces, are 99,000 a second. */
const SEALS_HOURS = 12;
/** How old a key is when it begins to seal: by then all processes have read it. The first one begins at once. */
const KNOWN_AFTER_SECONDS = 60;
/**
 * How long a key is kept: a process without the database goes on sealing with the last one that
 * it has read, and quotes hold for an hour.
 */
const KEPT_HOURS = 72;
/** How old a key can be that still opens quotes: it is deleted when the next one is created. */
export const OPENS_HOURS = KEPT_HOURS + SEALS_HOURS;

const SELECT = `
  select id, secret,
    (extract(epoch from statement_timestamp() - created_at))::float8 as "ageSeconds"
  from quote_key order by id desc`;

/** Of processes that do so at the same time, one is first; all then read its key. */
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
  /** Undefined where it cannot be opened. */
  readonly key: QuoteKey | undefined;
}

export function createQuoteKeys(seal: SecretSeal, log: Pick<Logger, "error">): QuoteKeys {
  let known = new Map<number, KnownKey>();
  let current: QuoteKey | undefined;

  async function load(reader: Reader): Promise<KeyRow[]> {
    const { rows } = await reader.query<KeyRow>(SELECT);
    known = new Map(
      rows.map((row) => {
        const before = known.get(row.id);
        // Another secret: resealed, or that of a database that was restored.
        return [row.id, before?.secret === row.secret ? before : openKey(row)];
      }),
    );
    const usable = rows.filter(({ id }) => byId(id) !== undefined);
    const sealing = usable.find(({ ageSeconds }) => ageSeconds >= KNOWN_AFTER_SECONDS);
    // Of keys that are all new, others are likeliest to have read the oldest.
    const next = sealing ?? usable.at(-1);
    if (next !== undefined) current = byId(next.id);
    return rows;
  }

  const byId = (id: number) => known.get(id)?.key;

  function openKey({ id, secret }: KeyRow): KnownKey {
    const opened = seal.open(secret, placeOf(id));
    if (opened !== undefined) {
      return { secret, key: toQuoteKey(id, Buffer.from(opened, "base64url")) };
    }
    log.error({ key: id }, "no key in SECRETS_KEYS opens a key of quotes");
    return { secret, key: undefined };
  }

  /** Whether the newest key that this process can use has sealed for long enough. */
  function isDue(rows: readonly KeyRow[]): boolean {
    const newest = rows.find(({ id }) => byId(id) !== undefined);
    return newest === undefined || newest.ageSeconds >= SEALS_HOURS * 3_600;
  }

  return {
    current() {
      if (current === undefined)
        throw unavailable("The service is starting; try again in a moment.");
      return current;
    },
    byId,
    async refresh(reader) {
      const rows = await load(reader);
      if (!isDue(rows)) return;
      const id = (rows[0]?.id ?? 0) + 1;
      const secret = randomBytes(QUOTE_KEY_BYTES).toString("base64url");
      await reader.query(INSERT, [id, seal.seal(secret, placeOf(id)), CHANGES_CHANNEL]);
      await reader.query(DELETE_OLD);
      await load(reader);
    },
  };
}

/**
 * Seals the keys that are stored as they are, or sealed by an earlier key.
 *
 * @returns how many were sealed now
 */
export async function sealQuoteKeys(em: EntityManager, seal: SecretSeal): Promise<number> {
  const stored = await runStatement<Pick<KeyRow, "id" | "secret">>(
    em,
    "select id, secret from quote_key",
  );
  let count = 0;
  for (const { id, secret } of stored) {
    const opened = seal.isCurrent(secret) ? undefined : seal.open(secret, placeOf(id));
    if (opened === undefined) continue;
    const sql = "update quote_key set secret = $2 where id = $1 and secret = $3 returning id";
    const values = [id, seal.seal(opened, placeOf(id)), secret];
    count += (await runStatement(em, sql, values)).length;
  }
  return count;
}

function placeOf(id: number): string {
  return `quote_key ${id}`;
}
