import type { Client } from "pg";

/** The tables that hold secret keys: of workspaces, and of operators. */
export const KEY_TABLES = ["api_key", "operator_key"] as const;

/** A table that holds secret keys. */
export type KeyTable = (typeof KEY_TABLES)[number];

/** A key that has changed or ended. */
export interface KeyChange {
  readonly hash: string;
  /** When it last changed, by the database's clock. */
  readonly changedAt: Date;
  /** Whether it has ended, by the database's clock. */
  readonly ended: boolean;
}

/**
 * The keys that changed or ended within the last minute, by the database's clock. A minute is far
 * longer than a commit and the interval between two polls, so no change is missed.
 */
export async function recentKeyChanges(client: Client, table: KeyTable): Promise<KeyChange[]> {
  const select = `
    select hash, changed_at as "changedAt", coalesce(ends_at <= now(), false) as ended from ${table}`;
  // Each by its index; with `or` between them all keys would be read.
  const { rows } = await client.query<KeyChange>(
    `${select} where changed_at > now() - interval '1 minute'
     union ${select} where ends_at between now() - interval '1 minute' and now()`,
  );
  return rows;
}
