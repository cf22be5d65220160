import type { Client } from "pg";

/** A key that changed, or came to its end. */
export interface KeyChange {
  readonly hash: string;
  /** When it last changed, by the database's clock. */
  readonly changedAt: Date;
  /** Whether it does not work any more, by the database's clock. */
  readonly ended: boolean;
}

/**
 * The keys that changed or came to their end within the last minute, by the database's clock: far
 * longer than a change takes to commit and a look to come round, so that none is missed.
 */
export async function recentKeyChanges(client: Client): Promise<KeyChange[]> {
  const { rows } = await client.query<KeyChange>(
    `select hash, changed_at as "changedAt", coalesce(ends_at <= now(), false) as ended
     from api_key
     where changed_at > now() - interval '1 minute'
        or ends_at between now() - interval '1 minute' and now()`,
  );
  return rows;
}
