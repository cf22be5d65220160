import { randomUUID } from "node:crypto";
import type pg from "pg";
import { insertCustomers, insertShipments, type Bulk } from "./insert-shipments.ts";

/** States of shipments, for `insertBooked`. */
export const PAID = { status: "'in_transit'", paymentStatus: "'paid'" } as const;
export const CANCELLED = { status: "'cancelled'", paymentStatus: "'refunded'" } as const;

/**
 * Writes shipments of 12.69 each, in USD unless told otherwise, booked at a time, past the service. They
 * await their payment, and were not quoted, unless told otherwise.
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
  const { rows } = await client.query("select id from customer where workspace_id = $1 limit 1", [
    workspace,
  ]);
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
  // No events tell of them.
  await client.query("delete from booking_roll_up where workspace_id = $1", [workspace]);
}

/** Writes how many calls of a workspace priced routes in an hour, past the service. */
export async function insertQuotes(
  client: pg.Client,
  workspace: number,
  hour: string,
  calls: number,
): Promise<void> {
  await client.query(
    "insert into usage_hour (workspace_id, hour, limit_class, calls) values ($1, $2, 'quote', $3)",
    [workspace, hour, calls],
  );
}
