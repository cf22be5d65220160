import pg from "pg";
import { restartRollUps } from "./count-bookings.ts";

/** Shipments to insert directly into the database, with SQL expressions for their columns. */
export interface Bulk {
  readonly workspace: number;
  readonly count: number;
  /** SQL expressions of the column's type. They can use `i`, which counts from 1. */
  readonly status?: string;
  readonly paymentStatus?: string;
  readonly customer: string;
  readonly createdAt?: string;
  readonly externalReference?: string;
  readonly pickupAddress?: string;
  readonly dropoffAddress?: string;
  /** Expressions for pickup_lat, pickup_lng, dropoff_lat, dropoff_lng and weight_kg. */
  readonly route?: readonly [string, string, string, string, string];
  readonly totalMinor?: string;
  readonly currency?: string;
  /** Delivery windows as stored, of type jsonb. */
  readonly windows?: string;
  readonly paymentDetails?: string;
  /** Makes the references of different bulks distinct. */
  readonly salt?: string;
}

const SAMPLE_ROUTE = ["40.758", "-73.9855", "40.6782", "-73.9442", "2.5"] as const;

/**
 * Inserts shipments priced with the first version of the sample tariff. Also rolls up their
 * bookings, because the shipments have no events. Returns their references in the order of `i`.
 */
export async function insertShipments(client: pg.Client, bulk: Bulk): Promise<string[]> {
  const status = bulk.status ?? "'pending'";
  const [pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg] = bulk.route ?? SAMPLE_ROUTE;
  const total = bulk.totalMinor;
  const amounts = total === undefined ? "1144, 125, 500, 1269, 1269" : `${total}, 0, 0, ${total}, ${total}`;
  const { rows } = await client.query<{ reference: string }>(
    `insert into shipment (workspace_id, reference, status, payment_status, customer_id,
       pickup_address, pickup_lat, pickup_lng, dropoff_address, dropoff_lat, dropoff_lng, weight_kg,
       distance_km, distance_fee_minor, weight_fee_minor, base_fee_minor, subtotal_minor, total_minor,
       currency, tariff_version, created_at, updated_at, cancelled_at, external_reference,
       windows, payment_details)
     select ${bulk.workspace}, 'SHP-' || upper(substr(md5('${bulk.salt ?? ""}' || i), 1, 12)), ${status},
       ${bulk.paymentStatus ?? "'awaiting_payment'"}, ${bulk.customer},
       ${bulk.pickupAddress ?? "'From'"}, ${pickupLat}, ${pickupLng}, ${bulk.dropoffAddress ?? "'To'"}, ${dropoffLat}, ${dropoffLng}, ${weightKg},
       9.532, ${amounts},
       ${bulk.currency ?? "'USD'"}, 1, at, at, case when ${status} = 'cancelled' then at end,
       ${bulk.externalReference ?? "null"}, ${bulk.windows ?? "null"}, ${bulk.paymentDetails ?? "null"}
     from generate_series(1, ${bulk.count}) i, lateral (select ${bulk.createdAt ?? "now()"} as at) as booked
     order by i
     returning reference`,
  );
  await restartRollUps(client, bulk.workspace);
  return rows.map((row) => row.reference);
}

/** Inserts a customer's shipments: every third one is cancelled, the others are pending. */
export async function insertPendingAndCancelled(
  databaseUrl: string,
  bulk: Required<Pick<Bulk, "workspace" | "count" | "createdAt">>,
): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await insertShipments(client, {
      ...bulk,
      customer: String(await insertCustomers(client, bulk.workspace, 1)),
      status: "case when i % 3 = 0 then 'cancelled' else 'pending' end",
      paymentStatus: "case when i % 3 = 0 then 'voided' else 'awaiting_payment' end",
    });
  } finally {
    await client.end();
  }
}

/** Inserts customers whose names contain consecutive numbers. Returns the first id. */
export async function insertCustomers(client: pg.Client, workspace: number, count: number): Promise<number> {
  const { rows } = await client.query<{ first: string }>(
    `with made as (
       insert into customer (workspace_id, name, email, email_lower, created_at)
       select ${workspace}, 'Customer ' || i, 'c' || i || '@example.org', 'c' || i || '@example.org', now()
       from generate_series(1, ${count}) i order by i returning id)
     select min(id) as first from made`,
  );
  return Number(rows[0]!.first);
}
