import {
  PlatformReportService,
  type AppliedMigration,
  type OverduePayment,
  type PlatformHealth,
  type Replica,
  type PaymentHealth,
  type TariffHealth,
  type WebhookHealth,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Badge, type Tone, Figures, type Figure } from "../ui/description-list.tsx";
import { numberText, bytesText } from "../ui/format.ts";
import { Page, Section, QueryView } from "../ui/page.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";

const REFRESH_MS = 5_000;

export function HealthPage() {
  const query = useRpc(PlatformReportService.method.getHealth, {});
  useRepeat(query.reload, REFRESH_MS);
  const checkedAt = query.data?.data?.checkedAt;
  return (
    <Page
      title="Health"
      note={
        checkedAt && (
          <span class="minor">
            {query.problem ? "Status unknown. Last checked" : "Checked every 5 seconds, last"}{" "}
            <Time at={checkedAt} exact="second" />
          </span>
        )
      }
    >
      <QueryView query={query}>
        {({ data }) => data && <Content health={data} isCurrent={query.problem === undefined} />}
      </QueryView>
    </Page>
  );
}

function Content({ health, isCurrent }: { readonly health: PlatformHealth; readonly isCurrent: boolean }) {
  return (
    <div class="stack">
      <Figures items={healthFigures(health, isCurrent)} />
      <Section title="Replicas">
        {health.replicas.length === 0 ? (
          <p class="minor">No replica has reported yet.</p>
        ) : (
          <Table label="Replicas" columns={REPLICA_COLUMNS} rows={health.replicas} />
        )}
      </Section>
      {health.payments && health.payments.payments.length > 0 && (
        <Section title="Overdue payment tasks">
          <div class="stack">
            <p class="minor">
              The provider could not be reached, or did not complete the task. Tasks are retried automatically. The log
              contains the reasons.
            </p>
            <Table
              label="Overdue payment tasks"
              columns={PAYMENT_COLUMNS}
              rows={health.payments.payments}
              keyOf={({ workspace, shipment }) => `${workspace} ${shipment}`}
            />
          </div>
        </Section>
      )}
      <Section title="Database migrations">
        <Migrations migrations={(health.database?.migrations ?? []).toReversed()} />
      </Section>
    </div>
  );
}

/** Shows the newest migration, and the full list on request. */
function Migrations({ migrations }: { readonly migrations: readonly AppliedMigration[] }) {
  const [newest] = migrations;
  return (
    <details class="difference">
      <summary>
        All {numberText(migrations.length)}, the newest {newest && <Time at={newest.appliedAt} exact />}
      </summary>
      <Table label="Migrations" columns={MIGRATION_COLUMNS} rows={migrations} keyOf={({ name }) => name} />
    </details>
  );
}

const REPLICA_COLUMNS: readonly Column<Replica>[] = [
  {
    header: "Host",
    selfEvident: true,
    cell: ({ id, hostName }) => <strong title={id}>{hostName}</strong>,
  },
  {
    header: "State",
    selfEvident: true,
    cell: ({ up }) => (up ? <Badge tone="good">Up</Badge> : <Badge tone="bad">Not seen</Badge>),
  },
  { header: "Version", cell: ({ version }) => version },
  { header: "Node", cell: ({ nodeVersion }) => nodeVersion },
  { header: "Started", cell: ({ startedAt }) => <Time at={startedAt} /> },
  { header: "Seen", cell: ({ seenAt }) => <Time at={seenAt} /> },
];

const PAYMENT_COLUMNS: readonly Column<OverduePayment>[] = [
  { header: "Shipment", selfEvident: true, cell: ({ shipment }) => <code>{shipment}</code> },
  {
    header: "Workspace",
    cell: ({ workspace }) => <a href={paths.platformWorkspace({ workspace })}>{String(workspace)}</a>,
  },
  { header: "Failed tries", cell: ({ failures }) => numberText(failures) },
  { header: "Next try", cell: ({ dueAt }) => <Time at={dueAt} exact /> },
];

const MIGRATION_COLUMNS: readonly Column<AppliedMigration>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  { header: "Applied", cell: ({ appliedAt }) => <Time at={appliedAt} exact /> },
];

/** Delivery wait that implies two failed attempts, in milliseconds. The third is due after five minutes. */
const LATE_DELIVERY_MS = 300_000;
/** Maximum that the service counts to. */
const MAX_DELIVERIES = 1_000_000n;
const MAX_PAYMENTS = 10_000;

/**
 * Returns the state of each part of the platform, with a matching color.
 *
 * @param isCurrent false if the last reload failed
 */
function healthFigures(health: PlatformHealth, isCurrent: boolean): readonly Figure[] {
  const { replicas, database, tariff, webhooks, payments } = health;
  const now = health.checkedAt ? timestampMs(health.checkedAt) : Date.now();
  return [
    replicaFigure(replicas),
    {
      term: "Database",
      value: isCurrent ? state("good", "Reachable") : state("attention", "No response"),
      note: database && `PostgreSQL ${database.version}, ${bytesText(Number(database.sizeBytes))}`,
    },
    ...(tariff ? [tariffFigure(tariff)] : []),
    ...(webhooks ? [webhookFigure(webhooks, now)] : []),
    ...(payments ? [paymentFigure(payments)] : []),
  ];
}

function state(tone: Tone, text: string): ComponentChildren {
  return <Badge tone={tone}>{text}</Badge>;
}

function replicaFigure(replicas: readonly Replica[]): Figure {
  const up = replicas.filter((replica) => replica.up);
  const text = `${up.length} of ${replicas.length} up`;
  const versions = [...new Set(up.map(({ version }) => version))];
  const note = versions.length > 1 ? `Versions differ: ${versions.join(", ")}` : `Version ${versions[0]}`;
  const allUp = up.length === replicas.length;
  const tone = up.length === 0 ? "bad" : allUp && versions.length === 1 ? "good" : "attention";
  return { term: "Replicas", value: state(tone, text), note: up.length > 0 && note };
}

function tariffFigure(tariff: TariffHealth): Figure {
  const { versionInForce, scheduledVersion, scheduledAt } = tariff;
  return {
    term: "Tariff in force",
    value: versionInForce === undefined ? state("bad", "None") : state("good", `Version ${versionInForce}`),
    note:
      scheduledVersion === undefined ? (
        "No other version scheduled"
      ) : (
        <>
          Version {scheduledVersion} from <Time at={scheduledAt} exact />
        </>
      ),
  };
}

function webhookFigure(webhooks: WebhookHealth, now: number): Figure {
  const { pendingDeliveries, oldestPendingAt } = webhooks;
  const isLate = oldestPendingAt !== undefined && now - timestampMs(oldestPendingAt) > LATE_DELIVERY_MS;
  const more = pendingDeliveries >= MAX_DELIVERIES ? "More than " : "";
  return {
    term: "Webhooks",
    value: state(
      isLate ? "attention" : "good",
      pendingDeliveries === 0n ? "None waiting" : `${more}${numberText(Number(pendingDeliveries))} waiting`,
    ),
    note: oldestPendingAt ? (
      <>
        Oldest since <Time at={oldestPendingAt} exact />
      </>
    ) : (
      "No pending deliveries"
    ),
  };
}

function paymentFigure(payments: PaymentHealth): Figure {
  const { overduePayments, overdueNotices, overdueAccounts } = payments;
  const overdue = [
    countText(overduePayments, "payment or refund", "payments or refunds"),
    countText(overdueNotices, "provider event", "provider events"),
    countText(overdueAccounts, "account", "accounts"),
  ].filter((text) => text !== undefined);
  return {
    term: "Payments",
    value: overdue.length === 0 ? state("good", "On time") : state("attention", "Overdue"),
    note: overdue.length === 0 ? "Providers respond" : overdue.join(", "),
  };
}

function countText(count: number, one: string, several: string): string | undefined {
  if (count === 0) return undefined;
  const more = count >= MAX_PAYMENTS ? "more than " : "";
  return `${more}${numberText(count)} ${count === 1 ? one : several}`;
}
