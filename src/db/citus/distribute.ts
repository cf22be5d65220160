import type { Client } from "pg";
import { CHANGES_APPLICATION } from "../change-feed.ts";
import { ConnectionError } from "../connection-error.ts";
import {
  DISTRIBUTED_TABLES,
  distributeFirstSql,
  distributeTableSql,
  REFERENCE_TABLES,
  SET_SEQUENTIAL,
} from "./distributed.ts";
import { withMigrationLock } from "../migrate.ts";

/** Default number of shards, which limits the number of worker nodes. */
export const DEFAULT_SHARDS = 32;

const OLDEST_CITUS = 13;
/** Lock timeout in milliseconds. */
const LOCK_WAIT_MS = 30_000;

/**
 * Distributes a migrated database and its data over the coordinator's worker nodes, by workspace. All tables are
 * distributed in one transaction. Repeated calls skip completed steps.
 *
 * @param shards number of shards, used only the first time
 */
export async function distribute(databaseUrl: string, shards: number, report: (step: string) => void): Promise<void> {
  await withMigrationLock(databaseUrl, { lockWaitMs: LOCK_WAIT_MS }, async (client) => {
    await assertCluster(client);
    const pending = await pendingTables(client);
    if (pending.length > 0) {
      await assertAlone(client);
      await inTransaction(client, () => distributeTables(client, pending, shards, report));
      report("Committed: the tables are distributed.");
    }
    await removeCopies(client, report);
  });
}

interface Cluster {
  readonly isCoordinator: boolean;
  readonly knowsItself: boolean;
  readonly workers: number;
}

const CLUSTER = `
  select (select groupid = 0 from pg_dist_local_group) as "isCoordinator",
    exists (select from pg_dist_node where groupid = 0) as "knowsItself",
    (select count(*)::int from pg_dist_node
     where groupid > 0 and isactive and shouldhaveshards and noderole = 'primary') as workers`;

/**
 * Checks the connected server.
 *
 * @throws ConnectionError unless it is the coordinator of a cluster with worker nodes
 */
async function assertCluster(client: Client): Promise<void> {
  const { rows: extensions } = await client.query<{ extversion: string }>(
    "select extversion from pg_extension where extname = 'citus'",
  );
  const version = extensions[0]?.extversion;
  if (version === undefined) {
    refuse(
      "it has no extension citus",
      "install Citus on every node, name it in shared_preload_libraries, and create the extension in this database of every node",
    );
  }
  if (Number.parseInt(version, 10) < OLDEST_CITUS) {
    refuse(`its extension citus is ${version}`, `update it to ${OLDEST_CITUS} or newer`);
  }
  const { rows: clusters } = await client.query<Cluster>(CLUSTER);
  const { isCoordinator, knowsItself, workers } = clusters[0]!;
  if (!isCoordinator) refuse("it is a worker node", "name the coordinator in DATABASE_URL");
  if (!knowsItself) {
    refuse(
      "the coordinator has no address that the other nodes know",
      "run select citus_set_coordinator_host('<host>', <port>) there",
    );
  }
  if (workers === 0) {
    refuse("the coordinator has no worker nodes", "add them by select citus_add_node('<host>', <port>) there");
  }
}

function refuse(reason: string, advice: string): never {
  throw new ConnectionError(`${reason}; ${advice}`, false);
}

/** @throws ConnectionError while the service is running, because its plans refer to the undistributed tables */
async function assertAlone(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    "select from pg_stat_activity where datname = current_database() and application_name = $1",
    [CHANGES_APPLICATION],
  );
  if (rowCount === 0) return;
  refuse(`${rowCount} processes of the service use it`, "stop them, and start them again afterwards");
}

/** Returns the tables that are not yet distributed, in the order of distribution. */
async function pendingTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality as wanted (name, ordinality)
     where not exists (select from pg_dist_partition
       where logicalrelid = to_regclass(name) and (partmethod = 'h' or repmodel = 't'))
     order by ordinality`,
    [[...REFERENCE_TABLES, ...DISTRIBUTED_TABLES]],
  );
  return rows.map(({ name }) => name);
}

async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await client.query(SET_SEQUENTIAL);
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

async function distributeTables(
  client: Client,
  tables: readonly string[],
  shards: number,
  report: (step: string) => void,
): Promise<void> {
  const foreignKeys = await dropForeignKeys(client, tables);
  for (const table of tables) {
    const sql = table === DISTRIBUTED_TABLES[0] ? distributeFirstSql(shards) : distributeTableSql(table);
    await client.query(sql!);
    report(REFERENCE_TABLES.includes(table) ? `Copied ${table} to every node.` : `Distributed ${table}.`);
  }
  for (const sql of foreignKeys) await client.query(sql);
  report(`Recreated ${foreignKeys.length} foreign keys.`);
  await client.query("select create_distributed_function('assert_shards(bigint[], boolean)')");
}

/**
 * Drops the foreign keys from and to the given tables. They are recreated without `on update cascade`,
 * because ids never change and Citus does not support it for the distribution column.
 *
 * @returns the statements that recreate them
 */
async function dropForeignKeys(client: Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ drop: string; make: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
       format('alter table %s add constraint %I %s', conrelid::regclass, conname,
         replace(pg_get_constraintdef(oid), ' ON UPDATE CASCADE', '')) as make
     from pg_constraint
     where contype = 'f'
       and exists (select from unnest($1::text[]) as wanted
         where to_regclass(wanted) in (conrelid, confrelid))
     order by conname`,
    [tables],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows.map(({ make }) => make);
}

/** Deletes the coordinator's local copies of distributed tables. */
async function removeCopies(client: Client, report: (step: string) => void): Promise<void> {
  for (const table of [...REFERENCE_TABLES, ...DISTRIBUTED_TABLES].toReversed()) {
    const { rows } = await client.query<{ size: string }>("select pg_relation_size(to_regclass($1)) as size", [table]);
    if (rows[0]!.size === "0") continue;
    await client.query("select truncate_local_data_after_distributing_table($1)", [table]);
    report(`Removed the coordinator's own copy of ${table}.`);
  }
}
