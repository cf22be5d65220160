import { onBehalfOfAll } from "./connection-shares.ts";
import type { EntityManager } from "./orm.ts";
import { runStatement } from "./statement.ts";

/**
 * The tables of workspaces' data, which a distributed database keeps on its worker nodes: all rows of a
 * workspace on one node. In an order in which they refer to those before them. Tables that are neither
 * here nor in `REFERENCE_TABLES` are the platform's, and stay on the coordinator.
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
];

const DISTRIBUTION_COLUMN = "workspace_id";

/** The tables of which every node has a copy, since rows of workspaces refer to theirs. */
export const REFERENCE_TABLES: readonly string[] = ["workspace", "tariff_version"];

/** One statement after the other on each node, as foreign keys to tables of every node need. */
export const SET_SEQUENTIAL = "set local citus.multi_shard_modify_mode to 'sequential'";

export type RunSql = (sql: string, values: readonly unknown[]) => Promise<readonly object[]>;

/** Citus knows a table by its row in `pg_dist_partition`, which there is with the extension alone. */
const HAS_EXTENSION = `
  select from pg_extension where extname = $1`;
const IS_DISTRIBUTED = `
  select from pg_dist_partition where logicalrelid = to_regclass($1)`;

/** By the configuration that an ORM and its forks share. */
const known = new WeakMap<EntityManager["config"], Promise<boolean>>();

/**
 * Whether the database is distributed by workspace (`shipments distribute`). Where it is, a transaction
 * names one workspace alone, so that one node has all of it. The database is asked once.
 */
export function isDistributed(em: EntityManager): Promise<boolean> {
  return known.getOrInsertComputed(em.config, () => {
    const answer = onBehalfOfAll(() =>
      isDistributedBy((sql, values) => runStatement(em, sql, values)),
    );
    answer.catch(() => known.delete(em.config));
    return answer;
  });
}

export async function isDistributedBy(run: RunSql): Promise<boolean> {
  const extension = await run(HAS_EXTENSION, ["citus"]);
  return extension.length > 0 && (await run(IS_DISTRIBUTED, ["shipment"])).length > 0;
}

/** The statement that distributes a table as those before it; undefined for one of the platform. */
export function distributeTableSql(table: string): string | undefined {
  if (REFERENCE_TABLES.includes(table)) return `select create_reference_table('${table}')`;
  if (!DISTRIBUTED_TABLES.includes(table)) return undefined;
  const [first] = DISTRIBUTED_TABLES;
  return `select create_distributed_table('${table}', '${DISTRIBUTION_COLUMN}', colocate_with => '${first}')`;
}

/** The statement that distributes the first table, into shards, with which all others are then. */
export function distributeFirstSql(shards: number): string {
  const [first] = DISTRIBUTED_TABLES;
  return `select create_distributed_table('${first}', '${DISTRIBUTION_COLUMN}', shard_count => ${shards}, colocate_with => 'none')`;
}
