import {
  type AppliedMigration,
  type DatabaseHealth,
  GetHealthResponseSchema,
  type PaymentHealth,
  type PlatformReportService,
  type Replica,
  type TariffHealth,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { serversOf } from "../../db/servers-of.ts";
import { runStatement } from "../../db/statement.ts";
import type { RecordOf } from "../../json/records.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { loadScheduledVersion, loadVersionInForce } from "../tariffs/versions/load-version.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { countBacklog, type WebhookBacklog } from "./load-figures.ts";
import { countOverdueWork, loadOverduePayments } from "./overdue-payments.ts";
import type { ReportCache } from "./report-cache.ts";

export interface HealthDeps {
  readonly em: EntityManager;
  readonly backlogs: ReportCache<WebhookBacklog>;
  readonly tariffs: Pick<TariffCache, "current" | "currentVersion">;
  readonly now: () => Date;
}

export type PlatformReportFunctions = ServiceFunctions<typeof PlatformReportService, OperatorCall, HealthDeps>;

export const getHealth: PlatformReportFunctions["getHealth"] = async (_request, _call, { em, backlogs, now }) => {
  const { checkedAt, ...database } = await loadDatabase(em);
  const { pending, oldestMs } = await backlogs.get("", () => countBacklog(em));
  return respond({
    data: {
      checkedAt,
      replicas: await runStatement<RecordOf<Replica>>(em, REPLICAS, []),
      database,
      tariff: await loadTariff(em),
      webhooks: { pendingDeliveries: pending, oldestPendingAt: oldestMs },
      events: { delaySeconds: 0 },
      payments: await loadPayments(em, now()),
    },
  });
};

const respond = compileResponse(GetHealthResponseSchema);

async function loadPayments(em: EntityManager, now: Date): Promise<RecordOf<PaymentHealth>> {
  const { payments, events, accounts } = await countOverdueWork(em, now);
  return {
    overduePayments: payments,
    overdueNotices: events,
    overdueAccounts: accounts,
    payments: await loadOverduePayments(em, now),
  };
}

/** Selects the time, version and size of the database. Times are in milliseconds since the epoch. */
const DATABASE = `
  select round(extract(epoch from now()) * 1000)::float8 as "checkedAt",
    current_setting('server_version') as version`;

const MIGRATIONS = `
  select name, round(extract(epoch from executed_at) * 1000)::float8 as "appliedAt"
  from applied_migration order by id`;

interface DatabaseRow {
  readonly checkedAt: number;
  readonly version: string;
}

/** Loads the state and the current time of the database. */
async function loadDatabase(em: EntityManager): Promise<RecordOf<DatabaseHealth> & { checkedAt: number }> {
  const [database] = await runStatement<DatabaseRow>(em, DATABASE, []);
  const { checkedAt, version } = database!;
  return {
    checkedAt,
    // Distributions append their package version: `15.18 (Debian 15.18-0+deb12u1)`.
    version: version.split(" ")[0]!,
    sizeBytes: await (await serversOf(em)).databaseBytes(),
    migrations: await runStatement<RecordOf<AppliedMigration>>(em, MIGRATIONS, []),
  };
}

const REPLICAS = `
  select id::text, host_name as "hostName", version, node_version as "nodeVersion",
    (extract(epoch from started_at) * 1000)::float8 as "startedAt",
    (extract(epoch from seen_at) * 1000)::float8 as "seenAt",
    seen_at >= now() - interval '15 seconds' as up
  from replica where seen_at >= now() - interval '1 day'
  order by started_at desc, id`;

/** Loads the current and the scheduled tariff version. At most one version is scheduled. */
async function loadTariff(em: EntityManager): Promise<RecordOf<TariffHealth>> {
  // Load the scheduled version first, so that a version is not missed if it takes effect in between.
  const scheduled = await loadScheduledVersion(em.fork());
  const inForce = await loadVersionInForce(em.fork());
  return {
    versionInForce: inForce?.version,
    scheduledVersion: scheduled?.version,
    scheduledAt: scheduled?.effectiveAtMs,
  };
}
