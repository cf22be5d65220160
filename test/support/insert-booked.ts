import { randomUUID } from "node:crypto";
import type pg from "pg";
import { restartRollUps } from "./count-bookings.ts";
import { insertCustomers, insertShipments, type Bulk } from "./insert-shipments.ts";

/** Statuses of a paid shipment in transit, for `insertBooked`. */
export const PAID = { status: "'in_transit'", paymentStatus: "'paid'" } as const;
export const CANCELLED = { status: "'cancelled'", paymentStatus: "'refunded'" } as const;

/**
 * Inserts shipments booked at a given time for 12.69 each. By default in USD, awaiting payment and without a quote.
 */
export async function insertBooked(
  client: pg.Client,
  workspace: number,
  createdAt: string,
  {
    currency = "USD",
    quoted = false,
    ...bulk
  }: Pick<Bulk, "count" | "status" | "paymentStatus"> & {
    readonly currency?: string;
    readonly quoted?: boolean;
  },
): Promise<void> {
  const { rows } = await client.query("select id from customer where workspace_id = $1 limit 1", [workspace]);
  const customer = rows[0]?.id ?? (await insertCustomers(client, workspace, 1));
  const references = await insertShipments(client, {
    workspace,
    customer: String(customer),
    createdAt: `'${createdAt}'::timestamptz`,
    salt: randomUUID(),
    ...bulk,
  });
  await client.query("update shipment set currency = $1, quoted = $2 where reference = any ($3)", [
    currency,
    quoted,
    references,
  ]);
  await restartRollUps(client, workspace);
}

/** Inserts a workspace's number of quote calls in an hour. */
export async function insertQuotes(client: pg.Client, workspace: number, hour: string, calls: number): Promise<void> {
  await client.query("insert into usage_hour (workspace_id, hour, limit_class, calls) values ($1, $2, 'quote', $3)", [
    workspace,
    hour,
    calls,
  ]);
}
