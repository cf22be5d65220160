import {
  type FeeDifference,
  type ScheduleDifference,
  TariffService,
  type ZoneDifferences,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { loadAllPages } from "../api/all-pages.ts";
import { useClient } from "../api/clients.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { Empty, Page, ProblemNote, Section, QueryView } from "../ui/page.tsx";
import { Filters } from "../ui/filters.tsx";
import { numberText } from "../ui/format.ts";
import { type Column, Table } from "../ui/table.tsx";
import { pathText } from "./draft-faults.ts";
import { differenceText } from "./schedule-words.ts";
import { TariffMap, versionZonesPath, zonesText } from "./tariff-zones.tsx";
import { paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";

export function TariffComparisonPage() {
  const { query } = useLocation();
  const [from, to] = [versionIn(query, "from_version"), versionIn(query, "to_version")];
  const tariffs = useClient(TariffService);
  const { data, problem, reload } = useQuery(
    (signal) => loadAllPages((page) => tariffs.listTariffVersions(page, { signal })),
    [tariffs],
  );
  const listed = data?.map(({ version }) => version) ?? [];
  const versions = [...new Set([...listed, from, to])].filter((version) => version !== undefined);
  const choices = versions.map((version) => [String(version), `Version ${version}`] as const);
  return (
    <Page title="Compare versions" up={{ label: "Tariff", href: paths.tariff({}) }}>
      <Filters fields={{ from_version: { label: "From", choices }, to_version: { label: "To", choices } }} />
      {problem && <ProblemNote problem={problem} retry={reload} />}
      {from === undefined || to === undefined ? (
        <Empty title="Choose two versions" />
      ) : (
        <Comparison from={from} to={to} />
      )}
    </Page>
  );
}

function versionIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function Comparison({ from, to }: { readonly from: number; readonly to: number }) {
  const query = useRpc(
    TariffService.method.compareTariffVersions,
    { fromVersion: from, toVersion: to },
    { timeoutMs: 120_000 },
  );
  return (
    <QueryView query={query}>
      {({ fees, schedules, zones }) => (
        <div class="stack">
          <p class="minor">{unchangedText(fees, schedules, zones)}</p>
          {fees.length > 0 && (
            <Section title="Changed fees">
              <Table label="Changed fees" columns={COLUMNS} rows={fees} keyOf={({ path }) => path} />
            </Section>
          )}
          {schedules.length > 0 && (
            <Section title="Changed schedules">
              <Schedules from={from} to={to} differences={schedules} />
            </Section>
          )}
          {zones && zones.addedCount + zones.removedCount + zones.changedCount > 0 && (
            <Section title="Changed zones">
              <ZoneList title="Added" names={zones.added} count={zones.addedCount} />
              <ZoneList title="Removed" names={zones.removed} count={zones.removedCount} />
              <ZoneList title="Changed" names={zones.changed} count={zones.changedCount} />
              <TariffMap
                label={`Zones of versions ${from} and ${to}`}
                below={{ name: `Version ${from}`, tone: "before", path: versionZonesPath(from) }}
                layer={{ name: `Version ${to}`, tone: "after", path: versionZonesPath(to) }}
              />
            </Section>
          )}
        </div>
      )}
    </QueryView>
  );
}

function unchangedText(fees: readonly unknown[], schedules: readonly unknown[], zones: ZoneDifferences | undefined) {
  const same = [
    fees.length === 0 && "fees and tiers",
    schedules.length === 0 && "schedules",
    zones && zones.unchangedCount > 0 && zonesText(zones.unchangedCount),
  ];
  return `Unchanged: ${same.filter(Boolean).join(", ") || "nothing"}.`;
}

const COLUMNS: readonly Column<FeeDifference>[] = [
  { header: "Fee", selfEvident: true, cell: ({ path }) => pathText(path) },
  { header: "Before", cell: ({ before }) => before ?? "—" },
  { header: "After", cell: ({ after }) => after ?? "—" },
];

function Schedules(props: {
  readonly from: number;
  readonly to: number;
  readonly differences: readonly ScheduleDifference[];
}) {
  const { from, to, differences } = props;
  const tariffs = useClient(TariffService);
  const query = useQuery(
    (signal) =>
      Promise.all(
        [from, to].map(async (version) => (await tariffs.getTariffVersionSchedules({ version }, { signal })).data!),
      ),
    [tariffs, from, to],
  );
  return (
    <QueryView query={query}>
      {([before, after]) => (
        <Table
          label="Changed schedules"
          columns={SCHEDULE_COLUMNS}
          rows={differences.map(({ path }) => ({ path, ...differenceText(path, before!, after!) }))}
          keyOf={({ path }) => path}
        />
      )}
    </QueryView>
  );
}

const SCHEDULE_COLUMNS: readonly Column<ReturnType<typeof differenceText> & { readonly path: string }>[] = [
  { header: "Schedule", cell: ({ schedule }) => schedule },
  { header: "What", selfEvident: true, cell: ({ part }) => part },
  { header: "Before", cell: ({ before }) => before },
  { header: "After", cell: ({ after }) => after },
];

function ZoneList(props: { readonly title: string; readonly names: readonly string[]; readonly count: number }) {
  const { title, names, count } = props;
  if (count === 0) return null;
  return (
    <details class="zone-list" open={count <= 20}>
      <summary>
        {title} ({numberText(count)})
      </summary>
      <ul>
        {names.map((name, i) => (
          <li key={i}>{name}</li>
        ))}
        {count > names.length && <li>and {numberText(count - names.length)} more</li>}
      </ul>
    </details>
  );
}
