/**
 * Tables with workspace data, each after the tables it refers to. A distributed database stores them on
 * worker nodes, with all rows of a workspace on one node. Tables that are in neither list belong to the
 * platform and stay on the coordinator.
 */
export const DISTRIBUTED_TABLES: readonly string[] = [
  "customer",
  "customer_alias",
  "shipment",
  "simulation",
  "proof_picture",
  "courier_place",
  "recipient_notice",
  "recipient_opt_out",
  "used_quote",
  "payment",
  "payment_connection",
  "test_clock",
  "provider_payment",
  "feed",
  "event",
  "webhook",
  "webhook_delivery",
  "webhook_attempt",
  "webhook_lease",
  "kept_answer",
  "booking_day",
  "booking_roll_up",
  "api_request",
  "courier",
  "courier_link",
  "courier_session",
  "customer_roll_up",
  "customer_figure",
];

const DISTRIBUTION_COLUMN = "workspace_id";

/** Tables that are replicated to every node, because workspace rows refer to them. */
export const REFERENCE_TABLES: readonly string[] = ["workspace", "tariff_version"];

/** Makes Citus run statements sequentially on each node, as foreign keys to reference tables require. */
export const SET_SEQUENTIAL = "set local citus.multi_shard_modify_mode to 'sequential'";

/** Runs a statement and returns its rows. */
type RunSql = (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;

/**
 * Checks for the extension, because Citus lists its tables in `pg_dist_partition`, which exists only
 * with the extension.
 */
const HAS_EXTENSION = `
  select from pg_extension where extname = $1`;
const IS_DISTRIBUTED = `
  select from pg_dist_partition where logicalrelid = to_regclass($1)`;

/** Whether the database is distributed by workspace (`shipments distribute`). */
export async function isDistributed(run: RunSql): Promise<boolean> {
  const extension = await run(HAS_EXTENSION, ["citus"]);
  return extension.length > 0 && (await run(IS_DISTRIBUTED, ["shipment"])).length > 0;
}

/** Returns the statement that distributes a table. `undefined` for platform tables. */
export function distributeTableSql(table: string): string | undefined {
  if (REFERENCE_TABLES.includes(table)) return `select create_reference_table('${table}')`;
  if (!DISTRIBUTED_TABLES.includes(table)) return undefined;
  const [first] = DISTRIBUTED_TABLES;
  return `select create_distributed_table('${table}', '${DISTRIBUTION_COLUMN}', colocate_with => '${first}')`;
}

/** Returns the statement that distributes the first table over the shards. Other tables are colocated with it. */
export function distributeFirstSql(shards: number): string {
  const [first] = DISTRIBUTED_TABLES;
  return `select create_distributed_table('${first}', '${DISTRIBUTION_COLUMN}', shard_count => ${shards}, colocate_with => 'none')`;
}
