/**
 * The statements of a booking and of a cancel, as somebody would write them who knows PostgreSQL
 * and this schema; pgbench runs those of a booking, too.
 */

/** The tariff in force and the payment provider of $1, the workspace. */
export const IN_FORCE = `select (select max(version) from tariff_version) as tariff,
  (select provider from payment_connection where workspace_id = $1) as provider`;

/**
 * The customer of workspace $1 with name $2 and lower-case email $3, else a new one with email $4,
 * at $5. No row when another transaction makes the same one at the same moment.
 */
export const LINK_CUSTOMER = `with known as (
    select id, name, email, id_number from customer
    where workspace_id = $1 and name = $2 and email_lower = $3
  ), made as (
    insert into customer (workspace_id, name, email, email_lower, created_at)
    select $1, $2, $4, $3, $5::timestamptz where not exists (select from known)
    on conflict (workspace_id, name, email_lower) do nothing
    returning id, name, email, id_number
  )
  select id as customer, name, email, id_number from known
  union all select id, name, email, id_number from made`;

/** A pending shipment with its first event counted. */
export const INSERT_SHIPMENT = `insert into shipment
  (workspace_id, reference, customer_id, pickup_address, pickup_lat, pickup_lng, dropoff_address,
    dropoff_lat, dropoff_lng, weight_kg, distance_km, distance_fee_minor, weight_fee_minor,
    base_fee_minor, subtotal_minor, total_minor, currency, tariff_version, created_at, updated_at,
    status, payment_status, event_count)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19,
    'pending', 'awaiting_payment', 1)`;

/** An event of workspace $1 about $2, with the number $3, of type $4, with the data $5, at $6. */
export const INSERT_EVENT = `insert into event
  (workspace_id, subject, number, type, data, created_at) values ($1, $2, $3, $4, $5, $6)`;

const SELECT_SHIPMENT = `select s.reference, s.status, s.payment_status, s.created_by,
    s.pickup_address, s.pickup_lat, s.pickup_lng, s.dropoff_address, s.dropoff_lat, s.dropoff_lng,
    s.weight_kg, s.distance_km, s.distance_fee_minor, s.weight_fee_minor, s.base_fee_minor,
    s.subtotal_minor, s.total_minor, s.currency, s.customer_id, c.name, c.email, c.id_number,
    s.created_at, s.updated_at, s.cancelled_at, s.cancel_reason, s.cancel_note,
    s.external_reference, s.metadata, s.event_count, s.version
  from shipment s join customer c on c.workspace_id = s.workspace_id and c.id = s.customer_id
  where s.workspace_id = $1`;

/** The shipment of workspace $1 with the reference $2. */
export const GET_SHIPMENT = `${SELECT_SHIPMENT} and s.reference = $2`;

/** As `GET_SHIPMENT`, locked until the transaction ends. */
export const LOCK_SHIPMENT = `${GET_SHIPMENT} for update of s`;

/** The newest shipments of workspace $1, at most $2; the index asks for its own name. */
export const LIST_SHIPMENTS = `${SELECT_SHIPMENT} and s.reference <> 'shipment_by_age'
  order by s.created_at desc, s.reference desc limit $2`;

/** Cancels the shipment of workspace $1 with the reference $2 at $5. */
export const CANCEL_SHIPMENT = `update shipment
  set status = $3, payment_status = $4, cancelled_at = $5, updated_at = $5,
    event_count = event_count + 1, version = version + 1
  where workspace_id = $1 and reference = $2`;
