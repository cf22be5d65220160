import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  DatabaseHealthSchema,
  ReplicaSchema,
  TariffHealthSchema,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { loadScheduledVersion, loadVersionInForce } from "../tariffs/versions/load-version.ts";

const READ_DATABASE = `
  select round(extract(epoch from now()) * 1000)::float8 as "checkedAtMs",
    current_setting('server_version') as version,
    pg_database_size(current_database())::float8 as size`;

const READ_MIGRATIONS = `
  select name, round(extract(epoch from executed_at) * 1000)::float8 as "appliedAtMs"
  from applied_migration order by id`;

/** Tells of the database, and what time it is there, in milliseconds since the epoch. */
export async function readDatabase(
  em: EntityManager,
): Promise<MessageInitShape<typeof DatabaseHealthSchema> & { checkedAtMs: number }> {
  const [row] = await runStatement<{ checkedAtMs: number; version: string; size: number }>(
    em.fork(),
    READ_DATABASE,
    [],
  );
  const { checkedAtMs, version, size } = row!;
  const migrations = await runStatement<{ name: string; appliedAtMs: number }>(
    em.fork(),
    READ_MIGRATIONS,
    [],
  );
  return {
    checkedAtMs,
    // Packages add their own: `15.18 (Debian 15.18-0+deb12u1)`.
    version: version.split(" ")[0]!,
    sizeBytes: BigInt(size),
    migrations: migrations.map(({ name, appliedAtMs }) => ({
      name,
      appliedAt: timestampFromMs(appliedAtMs),
    })),
  };
}

const READ_REPLICAS = `
  select id::text, host_name as "hostName", version, node_version as "nodeVersion",
    (extract(epoch from started_at) * 1000)::float8 as "startedAtMs",
    (extract(epoch from seen_at) * 1000)::float8 as "seenAtMs",
    seen_at >= now() - interval '15 seconds' as up
  from replica where seen_at >= now() - interval '1 day'
  order by started_at desc, id`;

interface ReplicaRow {
  readonly id: string;
  readonly hostName: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAtMs: number;
  readonly seenAtMs: number;
  readonly up: boolean;
}

/** Tells of the replicas that were seen within a day. */
export async function readReplicas(
  em: EntityManager,
): Promise<MessageInitShape<typeof ReplicaSchema>[]> {
  const rows = await runStatement<ReplicaRow>(em.fork(), READ_REPLICAS, []);
  return rows.map(({ startedAtMs, seenAtMs, ...row }) => ({
    ...row,
    startedAt: timestampFromMs(startedAtMs),
    seenAt: timestampFromMs(seenAtMs),
  }));
}

/** Tells which tariff is in force, and which is scheduled. One can be scheduled at a time. */
export async function parseTariff(
  em: EntityManager,
): Promise<MessageInitShape<typeof TariffHealthSchema>> {
  // Before what is in force: a version whose time comes in between is found there.
  const scheduled = await loadScheduledVersion(em.fork());
  const inForce = await loadVersionInForce(em.fork());
  return {
    ...(inForce === undefined ? {} : { versionInForce: inForce.version }),
    ...(scheduled === undefined
      ? {}
      : {
          scheduledVersion: scheduled.version,
          scheduledAt: timestampFromMs(scheduled.effectiveAtMs),
        }),
  };
}
