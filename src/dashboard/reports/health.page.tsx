import {
  PlatformReportService,
  type AppliedMigration,
  type OverduePayment,
  type PlatformHealth,
  type Replica,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Badge } from "../ui/badge.tsx";
import { Figures } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { Page, Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { healthFigures } from "./health-figures.tsx";

/** How often what is shown is loaded anew, in milliseconds. */
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
            {query.problem ? "Not known now. Last checked" : "Checked every 5 seconds, last"}{" "}
            <Time at={checkedAt} exact="second" />
          </span>
        )
      }
    >
      <QueryView query={query} quiet>
        {({ data }) => data && <Content health={data} isCurrent={query.problem === undefined} />}
      </QueryView>
    </Page>
  );
}

function Content(props: { readonly health: PlatformHealth; readonly isCurrent: boolean }) {
  const { health, isCurrent } = props;
  return (
    <div class="stack">
      <Figures items={healthFigures(health, isCurrent)} />
      <Section title="Replicas">
        {health.replicas.length === 0 ? (
          <p class="minor">No replica has reported yet.</p>
        ) : (
          <Table
            label="Replicas"
            columns={REPLICA_COLUMNS}
            rows={health.replicas}
            keyOf={({ id }) => id}
          />
        )}
      </Section>
      {health.payments && health.payments.payments.length > 0 && (
        <Section title="Payments that are overdue">
          <div class="stack">
            <p class="minor">
              The provider could not be asked, or did not do what was to be done. They are tried
              again by themselves; the log says why they failed.
            </p>
            <Table
              label="Payments that are overdue"
              columns={PAYMENT_COLUMNS}
              rows={health.payments.payments}
              keyOf={({ workspace, shipment }) => `${workspace} ${shipment}`}
            />
          </div>
        </Section>
      )}
      <Section title="Migrations of the database">
        <Migrations migrations={(health.database?.migrations ?? []).toReversed()} />
      </Section>
    </div>
  );
}

/** The newest, and all of them when asked for, which are many. */
function Migrations({ migrations }: { readonly migrations: readonly AppliedMigration[] }) {
  const [newest] = migrations;
  return (
    <details class="difference">
      <summary>
        All {numberText(migrations.length)}, the newest{" "}
        {newest && <Time at={newest.appliedAt} exact />}
      </summary>
      <Table
        label="Migrations"
        columns={MIGRATION_COLUMNS}
        rows={migrations}
        keyOf={({ name }) => name}
      />
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
    cell: ({ workspace }) => (
      <a href={paths.platformWorkspace({ workspace })}>{String(workspace)}</a>
    ),
  },
  { header: "Failed tries", cell: ({ failures }) => numberText(failures) },
  { header: "Next try", cell: ({ dueAt }) => <Time at={dueAt} exact /> },
];

const MIGRATION_COLUMNS: readonly Column<AppliedMigration>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  { header: "Applied", cell: ({ appliedAt }) => <Time at={appliedAt} exact /> },
];
