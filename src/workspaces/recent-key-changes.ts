import type { Client } from "pg";

/**
 * The hashes of keys that changed or came to their end within the last minute, by the database's
 * clock: far longer than a change takes to commit and a look to come round, so that none is missed.
 */
export async function recentKeyChanges(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ hash: string }>(
    `select hash from api_key
     where changed_at > now() - interval '1 minute'
        or ends_at between now() - interval '1 minute' and now()`,
  );
  return rows.map((row) => row.hash);
}
