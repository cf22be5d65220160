import type pg from "pg";
import { insertCustomers, insertShipments } from "./insert-shipments.ts";

/** Records in a filled database that calls can name. */
export interface FilledRecords {
  /** Id of a customer with a tenth of the workspace's shipments. */
  readonly customer: number;
  /** Reference of a shipment with events in the workspace. */
  readonly shipment: string;
  /** Id of the webhook that has all of the workspace's deliveries. */
  readonly webhook: string;
}

/**
 * Inserts `rows` rows into every growing table. If a workspace can have many rows in a table, half of them belong to
 * the workspace `own`, and each other row to a different workspace. One percent is old enough to be purged.
 */
export async function fillTables(sql: pg.Client, own: number, rows: number): Promise<FilledRecords> {
  const half = rows / 2;
  // Disables triggers and foreign keys: the events have no consumers, and the keys are known to be valid.
  await sql.query("set session_replication_role = replica");
  const workspaces = await sql.query(
    `insert into workspace (name, created_at)
     select 'Other ' || i, now() from generate_series(1, ${rows}) i returning id`,
  );
  const other = Math.min(...workspaces.rows.map(({ id }) => Number(id))) - 1;
  const customer = await insertCustomers(sql, own, half);
  const [shipment] = await insertShipments(sql, {
    workspace: own,
    count: half,
    customer: `${customer} + i % 10`,
    createdAt: "now() - i * interval '1 minute'",
    externalReference: "'order ' || i",
  });
  const webhook = `wh_${"0".repeat(24)}`;
  const workspaceOfRow = `case when i <= ${half} then ${own} else ${other} + i end`;
  const age = "(now() - case when i % 100 = 0 then interval '101 days' else i * interval '1 minute' end)";
  const hash = (salt: string) => `translate(encode(sha256(('${salt}' || i)::bytea), 'base64'), '+/=', '-_')`;
  const values: Readonly<Record<string, string>> = {
    "customer (workspace_id, name, email, email_lower, created_at)": `
      ${workspaceOfRow}, 'Other ' || i, 'o' || i || '@example.org', 'o' || i || '@example.org', now()`,
    "courier (workspace_id, id, name, external_id, created_at, updated_at)": `
      ${workspaceOfRow}, 'cou_' || i, 'Rider', 'rider ' || i, ${age}, ${age}`,
    "kept_answer (workspace_id, key, method, request_digest, response, created_at)": `
      ${workspaceOfRow}, 'key' || i, 'm', 'd', '', ${age}`,
    "operator_stored_response (operator, key, method, request_digest, response, created_at)": `
      1 + i % 2, 'key' || i, 'm', 'd', '', ${age}`,
    "api_request (workspace_id, started_at, method, outcome, code, http_status, duration_ms, request_id, caller)": `
      ${workspaceOfRow}, ${age}, 'CreateShipment', 'succeeded', 'ok', 201, 3, 'r' || i, 'Shop'`,
    "usage_hour (workspace_id, hour, limit_class, calls)": `
      ${workspaceOfRow}, date_trunc('hour', ${age}, 'UTC') - i % ${half} * interval '1 hour', 'quote', 1`,
    "api_key (hash, workspace_id, id, last4, created_at, changed_at, ends_at)": `
      ${hash("key")}, ${other} + i, 'key_' || i, 'abcd', now(), ${age}, case when i % 100 = 0 then ${age} end`,
    "operator (name, email, kind, role, created_at)": `
      'Operator ' || i, 'p' || i || '@example.org', 'person', 'viewer', now()`,
    "operator_key (hash, operator_id, id, last4, created_at, changed_at, ends_at)": `
      ${hash("key")}, 2 + i, 'key_' || i, 'abcd', now(), ${age}, case when i % 100 = 0 then ${age} end`,
    "person (email, name, created_at)": "'p' || i || '@example.org', 'P' || i, now()",
    "membership (workspace_id, person_id, role, created_at)": `${other} + i, 1 + i, 'viewer', now()`,
    "session (hash, person_id, user_agent, created_at, last_seen_at, ends_at)": `
      ${hash("session")}, 1 + i, 'x', now(), now() - case when i % 100 = 1 then interval '1 day' else interval '0' end, ${age} + interval '1 day'`,
    "sign_in_link (hash, person_id, created_at, ends_at)": `
      ${hash("link")}, 1 + i, now(), ${age} + interval '1 day'`,
    "spent_attempt (hash, ends_at)": `${hash("attempt")}, ${age} + interval '1 day'`,
    "mail (kind, state, email, created_at, next_attempt_at)": `
      'sign_in', case i % 10 when 1 then 'waiting' else 'sent' end, 'p' || i || '@example.org', ${age}, ${age}`,
    "recipient_notice (workspace_id, shipment_reference, kind, state, created_at, next_attempt_at)": `
      ${workspaceOfRow}, 'SHP-' || i, 'delivered', case i % 10 when 1 then 'waiting' else 'sent' end, ${age}, now() + interval '1 day'`,
    "recipient_opt_out (workspace_id, email_hash, created_at)": `${workspaceOfRow}, 'hmac:' || ${hash("email")}, now()`,
    "audit_entry (created_at, actor, actor_name, operator_id, action, subject, workspace_id, changes)": `
      ${age}, 'operator', 'o', 1 + i % 2, case i % 2 when 0 then 'CreateOperator' else 'UpdateOperator' end, 'operator/' || i % 2, ${workspaceOfRow}, '[]'`,
    "webhook (workspace_id, id, url, types, secrets, disabled_reason, created_at, updated_at)": `
      ${other} + i, '${webhook}', 'https://example.com', '{*}', '[]', 'request', now(), now()`,
    "webhook_delivery (workspace_id, webhook_id, subject, number, type, status, created_at, ended_at, next_attempt_at)": `
      ${workspaceOfRow}, '${webhook}', 'SHP-0', 1, 'shipment.created',
      case when i % 10 = 1 then 'pending' else 'delivered' end, now(),
      case when i % 10 <> 1 then ${age} end,
      case when i % 10 = 1 then now() + interval '1 day' end`,
    "webhook_lease (workspace_id, webhook_id, worker, leased_until)": `
      ${other} + i, '${webhook}', 'gone', now()`,
    "workspace_limit (workspace_id, limit_class, rate, burst)": `${other} + i, 'quote', 1, 1`,
    "payment_connection (workspace_id, provider, connected_at)": `${other} + i, 'manual', now()`,
  };
  for (const [columns, row] of Object.entries(values)) {
    await sql.query(`insert into ${columns} select ${row} from generate_series(1, ${rows}) i on conflict do nothing`);
  }
  const copies = [
    `insert into webhook select (jsonb_populate_record(webhook, '{"workspace_id": ${own}}')).*
     from webhook where id = '${webhook}' limit 1`,
    `insert into shipment
     select (jsonb_populate_record(shipment, jsonb_build_object('workspace_id', customer.workspace_id))).*
     from customer, shipment where customer.workspace_id > ${other} and reference = '${shipment}'`,
    `insert into payment (workspace_id, shipment_reference, provider, amount_minor, currency, paid_at)
     select workspace_id, reference, 'manual', total_minor, currency, created_at from shipment
     on conflict do nothing`,
    `insert into feed select id, 0, now() from workspace on conflict do nothing`,
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     select workspace_id, feed.position + row_number() over (partition by workspace_id order by shipment.created_at - i * interval '1 day'),
       reference, i, 'shipment.updated', '{}', shipment.created_at - i * interval '1 day'
     from feed join shipment using (workspace_id),
       generate_series(1, case when reference = '${shipment}' then 20 else 1 end) i
     on conflict do nothing`,
    `update feed set position =
       (select max(position) from event where event.workspace_id = feed.workspace_id)
     where exists (select from event where event.workspace_id = feed.workspace_id)`,
    `insert into webhook_attempt (workspace_id, delivery_id, number, started_at, duration_ms, status)
     select workspace_id, id, 1, now(), 1, 200 from webhook_delivery on conflict do nothing`,
    `insert into tariff_version (version, document, digest, published_at, effective_at)
     select newest.version + i, document, case when i = ${rows} then digest else 'd' end, now(), now()
     from tariff_version as first, generate_series(1, ${rows}) i,
       (select max(version) as version from tariff_version) as newest
     where first.version = 1`,
  ];
  for (const copy of copies) await sql.query(copy);
  await sql.query("set session_replication_role = origin");
  return { customer, shipment: shipment!, webhook };
}
