import {
  PlatformReportService,
  type AppliedMigration,
  type PlatformHealth,
  type Replica,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { Badge } from "../ui/badge.tsx";
import { Figures } from "../ui/description-list.tsx";
import { Page, Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { healthFigures } from "./health-figures.tsx";

/** How often what is shown is loaded anew, in milliseconds. */
const REFRESH_MS = 5_000;

/** How the parts of the platform are, kept up to date. */
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
          <p class="minor">None has said yet that it is there.</p>
        ) : (
          <Table
            label="Replicas"
            columns={REPLICA_COLUMNS}
            rows={health.replicas}
            keyOf={({ id }) => id}
          />
        )}
      </Section>
      <Section title="Migrations of the database">
        <Table
          label="Migrations"
          columns={MIGRATION_COLUMNS}
          rows={(health.database?.migrations ?? []).toReversed()}
          keyOf={({ name }) => name}
        />
      </Section>
    </div>
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

const MIGRATION_COLUMNS: readonly Column<AppliedMigration>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  { header: "Applied", cell: ({ appliedAt }) => <Time at={appliedAt} exact /> },
];
