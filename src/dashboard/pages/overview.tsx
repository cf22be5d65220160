import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { Overview } from "../../../gen/shipments/v1/report_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery } from "../api/use-query.ts";
import { BookingBlockers } from "../parts/booking-blockers.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { DayRange, useDayRange } from "../parts/day-range.tsx";
import { OverviewCharts, OverviewFigures } from "../parts/overview-charts.tsx";
import { Page } from "../parts/page.tsx";
import { FirstSteps } from "./first-steps.tsx";

/** What a workspace booked, by day, and what stands in the way of booking more. */
export function OverviewPage({ workspace }: { readonly workspace: string }) {
  const reports = useClient(ReportService);
  const workspaces = useClient(WorkspaceService);
  const range = useDayRange();
  const overview = useQuery(
    (signal) => reports.getOverview(range, { signal }),
    [reports, range.fromDate, range.toDate],
  );
  const about = useQuery((signal) => workspaces.getWorkspace({}, { signal }), [workspaces]);
  const isNew = useIsNew(overview.data?.data);
  useLive(overview.reload);
  const { bookingBlockers = [] } = about.data?.data ?? {};
  return (
    <Page title="Overview">
      <div class="stack">
        <BookingBlockers blockers={bookingBlockers} />
        {isNew && <FirstSteps workspace={workspace} />}
        <DayRange />
        <Loaded query={overview}>
          {({ data }) =>
            data && (
              <div class="stack">
                <OverviewFigures overview={data} />
                <OverviewCharts overview={data} />
              </div>
            )
          }
        </Loaded>
      </div>
    </Page>
  );
}

/** Whether the workspace has no shipment at all, not only on the days that are shown. */
function useIsNew(overview: Overview | undefined): boolean {
  const shipments = useClient(ShipmentService);
  const nothingShown = overview?.totals?.bookings === 0n;
  const any = useQuery(
    async (signal) =>
      nothingShown ? (await shipments.listShipments({ pageSize: 1 }, { signal })).data : undefined,
    [shipments, nothingShown],
  );
  return nothingShown && any.data?.length === 0;
}
