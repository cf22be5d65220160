import type pg from "pg";
import { ReadOnlyServerError } from "./database-error.ts";
import { hostText, type ServerTarget } from "./database-url.ts";

const STATUS = `
  select pg_catalog.pg_is_in_recovery() as "isStandby",
         pg_catalog.current_setting('default_transaction_read_only') = 'on' as "isReadOnly"`;

/**
 * Checks that a newly connected server is writable, as libpq does.
 *
 * @throws ReadOnlyServerError if the server is not writable
 */
export async function assertTarget(client: pg.Client, target: ServerTarget, url: string): Promise<void> {
  const { rows } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(STATUS);
  const { isStandby, isReadOnly } = rows[0]!;
  if (isStandby) throw new ReadOnlyServerError(`${hostText(url)} is a standby`);
  if (target === "read-write" && isReadOnly) {
    throw new ReadOnlyServerError(`${hostText(url)} has default_transaction_read_only on`);
  }
}
