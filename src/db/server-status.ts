import type pg from "pg";
import { ReadOnlyServerError } from "./database-error.ts";
import { placeOf, type ServerTarget } from "./database-url.ts";

/** What a server has reported of itself to a client, by the name of the setting. */
export type ServerStatus = ReadonlyMap<string, string>;

/** Keeps what a server reports as a client connects, which PostgreSQL 14 and newer do unasked. */
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
 * Checks that a server which a client has just connected to is the one to write to. Asks it only if
 * it has not said so by itself, as through a pooler, with the queries of libpq.
 * @throws ReadOnlyServerError when it is not
 */
export async function assertTarget(
  client: pg.Client,
  status: ServerStatus,
  target: ServerTarget,
  url: string,
): Promise<void> {
  const isStandby = status.get("in_hot_standby") ?? (await askStandby(client));
  if (isStandby === "on") throw new ReadOnlyServerError(`${placeOf(url)} is a standby`);
  if (target === "primary") return;
  const readOnly = status.get("default_transaction_read_only") ?? (await askReadOnly(client));
  if (readOnly === "on") {
    throw new ReadOnlyServerError(`${placeOf(url)} has default_transaction_read_only on`);
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
