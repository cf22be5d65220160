import type pg from "pg";
import { ReadOnlyServerError } from "./database-error.ts";
import { hostText, type ServerTarget } from "./database-url.ts";

/** Settings reported by a server, by name. */
export type ServerStatus = ReadonlyMap<string, string>;

/**
 * Stores the settings that a server reports when a client connects. PostgreSQL 14 and newer report
 * whether they are writable.
 */
export function watchStatus(client: pg.Client): ServerStatus {
  const status = new Map<string, string>();
  client.connection.on(
    "parameterStatus",
    ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) =>
      status.set(parameterName, parameterValue),
  );
  return status;
}

/**
 * Checks that a newly connected server is writable, as libpq does. Queries the server only if it has
 * not reported its state, for example through a pooler.
 *
 * @throws ReadOnlyServerError if the server is not writable
 */
export async function assertTarget(
  client: pg.Client,
  status: ServerStatus,
  target: ServerTarget,
  url: string,
): Promise<void> {
  const isStandby = status.get("in_hot_standby") ?? (await askStandby(client));
  if (isStandby === "on") throw new ReadOnlyServerError(`${hostText(url)} is a standby`);
  if (target === "primary") return;
  const readOnly = status.get("default_transaction_read_only") ?? (await askReadOnly(client));
  if (readOnly === "on") {
    throw new ReadOnlyServerError(`${hostText(url)} has default_transaction_read_only on`);
  }
}

async function askStandby(client: pg.Client): Promise<string> {
  const { rows } = await client.query("select pg_catalog.pg_is_in_recovery() as yes");
  return rows[0].yes ? "on" : "off";
}

async function askReadOnly(client: pg.Client): Promise<string> {
  const { rows } = await client.query("show transaction_read_only");
  return rows[0].transaction_read_only;
}
