import type pg from "pg";

/** Many shipments to write straight into the database, past the service. */
export interface Bulk {
  readonly workspace: number;
  readonly count: number;
  /** SQL expressions over `i`, which counts from 1; each is of its column's type. */
  readonly status?: string;
  readonly paymentStatus?: string;
  readonly customer: string;
  readonly createdAt?: string;
  readonly externalReference?: string;
  /** Five of them: pickup_lat, pickup_lng, dropoff_lat, dropoff_lng, weight_kg. */
  readonly route?: readonly [string, string, string, string, string];
  /** Tells one bulk's references from another's. */
  readonly salt?: string;
}

const SAMPLE_ROUTE = ["40.758", "-73.9855", "40.6782", "-73.9442", "2.5"] as const;

/** Writes shipments of the sample tariff's first version; gives their references by `i`. */
export async function insertShipments(client: pg.Client, bulk: Bulk): Promise<string[]> {
  const status = bulk.status ?? "'pending'";
  const [pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg] = bulk.route ?? SAMPLE_ROUTE;
  const { rows } = await client.query<{ reference: string }>(
    `insert into shipment (workspace_id, reference, status, payment_status, customer_id,
       pickup_address, pickup_lat, pickup_lng, dropoff_address, dropoff_lat, dropoff_lng, weight_kg,
       distance_km, distance_fee_minor, weight_fee_minor, base_fee_minor, subtotal_minor, total_minor,
       currency, tariff_version, created_at, updated_at, cancelled_at, external_reference)
     select ${bulk.workspace}, 'SHP-' || upper(substr(md5('${bulk.salt ?? ""}' || i), 1, 12)), ${status},
       ${bulk.paymentStatus ?? "'awaiting_payment'"}, ${bulk.customer},
       'From', ${pickupLat}, ${pickupLng}, 'To', ${dropoffLat}, ${dropoffLng}, ${weightKg},
       9.532, 1144, 125, 500, 1269, 1269,
       'USD', 1, at, at, case when ${status} = 'cancelled' then at end,
       ${bulk.externalReference ?? "null"}
     from generate_series(1, ${bulk.count}) i, lateral (select ${bulk.createdAt ?? "now()"} as at) as booked
     order by i
     returning reference`,
  );
  return rows.map((row) => row.reference);
}

/** Writes customers with consecutive numbers in their names; gives the id of the first. */
export async function insertCustomers(
  client: pg.Client,
  workspace: number,
  count: number,
): Promise<number> {
  const { rows } = await client.query<{ first: string }>(
    `with made as (
       insert into customer (workspace_id, name, email, email_lower, created_at)
       select ${workspace}, 'Customer ' || i, 'c' || i || '@example.org', 'c' || i || '@example.org', now()
       from generate_series(1, ${count}) i order by i returning id)
     select min(id) as first from made`,
  );
  return Number(rows[0]!.first);
}
