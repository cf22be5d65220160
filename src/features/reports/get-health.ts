import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  DatabaseHealthSchema,
  PaymentHealthSchema,
  PlatformReportService,
  ReplicaSchema,
  TariffHealthSchema,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { isDistributed } from "../../db/distributed.ts";
import { runStatement } from "../../db/statement.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { loadScheduledVersion, loadVersionInForce } from "../tariffs/versions/load-version.ts";
import { countBacklog, type WebhookBacklog } from "./load-figures.ts";
import { countOverdueWork, loadOverduePayments } from "./overdue-payments.ts";
import type { ReportCache } from "./report-cache.ts";

export interface HealthDeps {
  readonly em: EntityManager;
  readonly backlogs: ReportCache<WebhookBacklog>;
  readonly now: () => Date;
}

export type PlatformReportFunctions = ServiceFunctions<
  typeof PlatformReportService,
  OperatorCall,
  HealthDeps
>;

export const getHealth: PlatformReportFunctions["getHealth"] = async (
  _request,
  _call,
  { em, backlogs, now },
) => {
  const { checkedAtMs, ...database } = await loadDatabase(em);
  const { pending, oldestMs } = await backlogs.get("", () => countBacklog(em));
  return {
    data: {
      checkedAt: timestampFromMs(checkedAtMs),
      replicas: await loadReplicas(em),
      database,
      tariff: await loadTariff(em),
      webhooks: {
        pendingDeliveries: BigInt(pending),
        ...(oldestMs === null ? {} : { oldestPendingAt: timestampFromMs(oldestMs) }),
      },
      events: {},
      payments: await loadPayments(em, now()),
    },
  };
};

async function loadPayments(
  em: EntityManager,
  now: Date,
): Promise<MessageInitShape<typeof PaymentHealthSchema>> {
  const { payments, notices, accounts } = await countOverdueWork(em, now);
  const named = await loadOverduePayments(em, now);
  return {
    overduePayments: payments,
    overdueNotices: notices,
    overdueAccounts: accounts,
    payments: named.map(({ workspace, dueAt, ...payment }) => ({
      ...payment,
      workspace: BigInt(workspace),
      dueAt: timestampFromDate(new Date(dueAt)),
    })),
  };
}

const DATABASE = `
  select round(extract(epoch from now()) * 1000)::float8 as "checkedAtMs",
    current_setting('server_version') as version,
    pg_database_size(current_database())::float8 as size`;

/** Of a distributed database each node has a part. */
const SIZE_OF_NODES = `
  select sum(result::float8) as size
  from run_command_on_all_nodes('select pg_database_size(current_database())') where success`;

const MIGRATIONS = `
  select name, round(extract(epoch from executed_at) * 1000)::float8 as "appliedAtMs"
  from applied_migration order by id`;

interface DatabaseRow {
  readonly checkedAtMs: number;
  readonly version: string;
  readonly size: number;
}

interface MigrationRow {
  readonly name: string;
  readonly appliedAtMs: number;
}

/** The database, and what time it is there, in milliseconds since the epoch. */
async function loadDatabase(
  em: EntityManager,
): Promise<MessageInitShape<typeof DatabaseHealthSchema> & { checkedAtMs: number }> {
  const [database] = await runStatement<DatabaseRow>(em, DATABASE, []);
  const { checkedAtMs, version } = database!;
  const [nodes = database!] = (await isDistributed(em))
    ? await runStatement<Pick<DatabaseRow, "size">>(em, SIZE_OF_NODES, [])
    : [];
  const migrations = await runStatement<MigrationRow>(em, MIGRATIONS, []);
  return {
    checkedAtMs,
    // Packages add their own: `15.18 (Debian 15.18-0+deb12u1)`.
    version: version.split(" ")[0]!,
    sizeBytes: BigInt(nodes.size),
    migrations: migrations.map(({ name, appliedAtMs }) => ({
      name,
      appliedAt: timestampFromMs(appliedAtMs),
    })),
  };
}

const REPLICAS = `
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

async function loadReplicas(em: EntityManager): Promise<MessageInitShape<typeof ReplicaSchema>[]> {
  const rows = await runStatement<ReplicaRow>(em, REPLICAS, []);
  return rows.map(({ startedAtMs, seenAtMs, ...row }) => ({
    ...row,
    startedAt: timestampFromMs(startedAtMs),
    seenAt: timestampFromMs(seenAtMs),
  }));
}

/** The tariff in force, and the scheduled one. One can be scheduled at a time. */
async function loadTariff(em: EntityManager): Promise<MessageInitShape<typeof TariffHealthSchema>> {
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
