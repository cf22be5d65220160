import {
  PlatformReportService,
  type SlotUse,
  type WorkspaceBookings,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { SlotCapacityUnit } from "../../../gen/shipments/v1/window_pb.js";
import { shownWith, useRpc } from "../api/use-query.ts";
import { Spend } from "../ui/spend.tsx";
import { paths } from "../routes/paths.ts";
import { DAY_LABELS, DayRange, rangeBefore, useDayRange, today } from "../ui/days.tsx";
import { BarList } from "../ui/charts.tsx";
import { numberText, shareText } from "../ui/format.ts";
import { Empty, Page, Section, QueryView } from "../ui/page.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { OverviewCharts, OverviewFigures } from "./overview-charts.tsx";

/** Shows the bookings of all workspaces in the URL's period, by default the last 30 days. */
export function PlatformPage() {
  const now = today("UTC");
  const range = useDayRange(now);
  const overview = useRpc(PlatformReportService.method.getPlatformOverview, range);
  const before = useRpc(PlatformReportService.method.getPlatformOverview, rangeBefore(range));
  return (
    <Page title="Overview" note={<span class="minor">All workspaces, by day in UTC</span>}>
      <div class="stack">
        <DayRange now={now} />
        <QueryView query={shownWith(overview, before)} labels={DAY_LABELS}>
          {({ data, topWorkspaces, slots }) => {
            const comparison = data && { overview: data, before: before.data?.data, today: now };
            return (
              comparison && (
                <div class="stack">
                  <OverviewFigures {...comparison} />
                  {slots.length > 0 && <SlotUses slots={slots} />}
                  <Busiest workspaces={topWorkspaces} />
                  <OverviewCharts {...comparison} />
                </div>
              )
            );
          }}
        </QueryView>
      </div>
    </Page>
  );
}

/** Shows how much of the capacity of upcoming slots is taken. */
function SlotUses({ slots }: { readonly slots: readonly SlotUse[] }) {
  return (
    <Section title="Slots" actions={<a href={paths.slots()}>All slots</a>}>
      <BarList
        label="Taken capacity of the slots that start within 24 hours"
        full={1}
        points={slots.map(({ schedule, unit, capacity, taken }) => {
          const share = capacity === 0 ? 1 : taken / capacity;
          const unitText = unit === SlotCapacityUnit.KILOGRAMS ? "kg" : "shipments";
          const text = `${numberText(taken)} of ${numberText(capacity)} ${unitText} · ${shareText(share)}`;
          return { label: schedule, value: share, text };
        })}
      />
    </Section>
  );
}

const COLUMNS: readonly Column<WorkspaceBookings>[] = [
  { header: "Workspace", selfEvident: true, cell: ({ name }) => <strong>{name}</strong> },
  { header: "Bookings", align: "end", cell: ({ bookings }) => numberText(Number(bookings)) },
  {
    header: "Cancelled",
    align: "end",
    cell: ({ cancellations }) => numberText(Number(cancellations)),
  },
  { header: "Revenue", align: "end", cell: ({ revenue }) => <Spend revenue={revenue} /> },
];

function Busiest({ workspaces }: { readonly workspaces: readonly WorkspaceBookings[] }) {
  if (workspaces.length === 0) {
    return (
      <Empty title="No bookings on these days" link={{ label: "Show workspaces", href: paths.platformWorkspaces({}) }}>
        Choose other days, or check that a workspace has a key and a payment provider.
      </Empty>
    );
  }
  return (
    <Section title="Busiest workspaces">
      <Table
        label="Busiest workspaces"
        columns={COLUMNS}
        rows={workspaces}
        keyOf={({ workspace }) => String(workspace)}
        href={({ workspace }) => paths.platformWorkspace({ workspace })}
      />
    </Section>
  );
}
