import { basename } from "node:path";
import { countyTariff } from "./county-tariff.ts";
import {
  createDatabase,
  prepareDatabase,
  withClient,
  type Prepared,
  type Server,
} from "./database.ts";
import { KNOWN_CUSTOMERS, PRICE, ROUTE, SHIPMENT_NAME_SQL } from "./shipments.ts";

/**
 * Makes a database with the known customers and so many pending shipments, each a second younger
 * than the one before it, with an event each.
 */
export async function prepareBookings(
  server: Server,
  name: string,
  shipments: number,
): Promise<Prepared> {
  const prepared = await prepareDatabase(server, name, countyTariff());
  const { url, workspace } = prepared;
  await withClient(url, async (client) => {
    await client.query("set synchronous_commit = off");
    // Neither triggers nor foreign keys: nobody waits for these events, and the keys are right.
    await client.query("set session_replication_role = replica");
    await client.query(insertCustomers(workspace));
    await client.query(insertShipments(workspace, shipments));
    await client.query(insertEvents(workspace));
    await client.query("vacuum analyze");
  });
  return prepared;
}

/** A copy of a prepared database, with the same workspace and key. */
export async function copyOf(server: Server, original: Prepared, name: string): Promise<Prepared> {
  const url = await createDatabase(server, name, basename(original.url));
  return { ...original, url };
}

function insertCustomers(workspace: number): string {
  return `insert into customer (workspace_id, name, email, email_lower, created_at)
    select ${workspace}, 'Customer ' || i, 'customer' || i || '@example.org',
      'customer' || i || '@example.org', now()
    from generate_series(0, ${KNOWN_CUSTOMERS - 1}) i`;
}

function insertShipments(workspace: number, count: number): string {
  const { pickup_lat, pickup_lng, dropoff_lat, dropoff_lng, weight_kg } = ROUTE;
  return `insert into shipment (workspace_id, reference, status, payment_status, customer_id,
      pickup_address, pickup_lat, pickup_lng, dropoff_address, dropoff_lat, dropoff_lng, weight_kg,
      distance_km, distance_fee_minor, weight_fee_minor, base_fee_minor, subtotal_minor,
      total_minor, currency, tariff_version, created_at, updated_at, event_count)
    select ${workspace}, ${SHIPMENT_NAME_SQL}, 'pending', 'awaiting_payment',
      (select min(id) from customer) + i % ${KNOWN_CUSTOMERS},
      '1 Times Square, New York', ${pickup_lat}, ${pickup_lng},
      '95 Prospect Park West, Brooklyn', ${dropoff_lat}, ${dropoff_lng}, ${weight_kg},
      ${PRICE.join(", ")}, 1, at, at, 1
    from generate_series(1, ${count}) i,
      lateral (select now() - (${count} - i + 60) * interval '1 second' as at)`;
}

function insertEvents(workspace: number): string {
  return `insert into event (workspace_id, subject, number, type, data, created_at)
    select ${workspace}, reference, 1, 'shipment.created',
      jsonb_build_object('reference', reference), created_at
    from shipment`;
}
