/** Handwritten SQL of the peers, tuned for PostgreSQL and this schema. $1 is the workspace. */
const SELECT_SHIPMENT = `select s.*, c.name, c.email, c.id_number
  from shipment s join customer c on c.workspace_id = s.workspace_id and c.id = s.customer_id
  where s.workspace_id = $1`;

/** Statements by the name under which they are prepared. */
export const SQL = {
  /** Reads the version in force and the payment provider. */
  inForce: `select (select max(version) from tariff_version) as tariff,
    (select provider from payment_connection where workspace_id = $1) as provider`,
  provider: "select provider from payment_connection where workspace_id = $1",
  /**
   * Finds the customer with name $2 and lower-case email $3, or creates one with email $4 at $5.
   * Returns no row if another transaction concurrently creates the same customer.
   */
  linkCustomer: `with known as (
      select id, name, email, id_number from customer
      where workspace_id = $1 and name = $2 and email_lower = $3
    ), made as (
      insert into customer (workspace_id, name, email, email_lower, created_at)
      select $1, $2, $4, $3, $5::timestamptz where not exists (select from known)
      on conflict (workspace_id, name, email_lower) do nothing
      returning id, name, email, id_number
    )
    select id as customer_id, name, email, id_number from known
    union all select id, name, email, id_number from made`,
  insertShipment: `insert into shipment (workspace_id, reference, status, payment_status,
      customer_id, pickup_address, pickup_lat, pickup_lng, dropoff_address, dropoff_lat,
      dropoff_lng, weight_kg, distance_km, distance_fee_minor, weight_fee_minor, base_fee_minor,
      subtotal_minor, total_minor, currency, tariff_version, created_at, updated_at, event_count,
      dropoff_zone)
    values ($1, $2, 'pending', 'awaiting_payment', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
      $14, $15, $16, $17, $18, $19, $19, 1, $20)
    returning *`,
  /**
   * Inserts events with types $3 and data $5 for shipment $2 at $6, caused by the API key $7. They get the next feed
   * positions and webhook deliveries. The last event's number is $4.
   */
  insertEvents: `with raised as (
      update feed set position = position + cardinality($3::text[]), changed_at = $6
      where workspace_id = $1
      returning position - cardinality($3::text[]) as before
    ), inserted as (
      insert into event (workspace_id, position, subject, number, type, data, created_at, api_key)
      select $1, before + n, $2, $4 - cardinality($3::text[]) + n, type, $5::jsonb, $6, $7::jsonb
      from raised, unnest($3::text[]) with ordinality as t (type, n)
      returning *
    )
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select workspace_id, id, subject, number, type, inserted.created_at, statement_timestamp()
    from inserted join webhook using (workspace_id)
    where disabled_reason is null and (types @> array['*'] or types @> array[type])
    order by position, id`,
  getShipment: `${SELECT_SHIPMENT} and s.reference = $2`,
  /** Like `getShipment`, but locks the row until the end of the transaction. */
  lockShipment: `${SELECT_SHIPMENT} and s.reference = $2 for update of s`,
  /**
   * Reads the newest shipments, at most $2. The condition on the reference makes PostgreSQL use the
   * index `shipment_by_age`.
   */
  listShipments: `${SELECT_SHIPMENT} and s.reference <> 'shipment_by_age'
    order by s.created_at desc, s.reference desc limit $2`,
  updateShipment: `update shipment set status = $3, payment_status = $4, cancelled_at = $5,
      metadata = $6, updated_at = $7, event_count = $8, version = version + 1
    where workspace_id = $1 and reference = $2`,
  insertPayment: `insert into payment
    (workspace_id, shipment_reference, provider, amount_minor, currency, paid_at)
    values ($1, $2, $3, $4, $5, $6)`,
};
