import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { Overview } from "../../../gen/shipments/v1/report_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useQuery, useRepeat } from "../api/use-query.ts";
import { BookingBlockers } from "../workspaces/booking-blockers.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { DAY_LABELS, DayRange, useDayRange } from "../ui/day-range.tsx";
import { OverviewCharts, OverviewFigures } from "./overview-charts.tsx";
import { Page } from "../ui/page.tsx";
import { FirstSteps } from "./first-steps.tsx";

/**
 * How often the figures are loaded anew, in milliseconds: no event tells of quotes, and an answer may
 * be older than the event that it was asked for after.
 */
const REPEAT_MS = 10_000;

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
  useRepeat(overview.reload, REPEAT_MS);
  const { bookingBlockers = [] } = about.data?.data ?? {};
  return (
    <Page title="Overview">
      <div class="stack">
        <BookingBlockers blockers={bookingBlockers} />
        {isNew === true ? (
          <FirstSteps workspace={workspace} />
        ) : (
          <>
            <DayRange />
            <QueryView query={overview} labels={DAY_LABELS} quiet>
              {({ data }) => data && isNew === false && <Shown overview={data} />}
            </QueryView>
          </>
        )}
      </div>
    </Page>
  );
}

function Shown({ overview }: { readonly overview: Overview }) {
  return (
    <div class="stack">
      <OverviewFigures overview={overview} />
      <OverviewCharts overview={overview} />
    </div>
  );
}

/**
 * Whether the workspace has no shipment at all, not only on the days that are shown; undefined as long
 * as that is not known.
 */
function useIsNew(overview: Overview | undefined): boolean | undefined {
  const shipments = useClient(ShipmentService);
  const bookings = overview?.totals?.bookings;
  const any = useQuery(
    async (signal) =>
      bookings === 0n
        ? (await shipments.listShipments({ pageSize: 1 }, { signal })).data
        : undefined,
    [shipments, bookings === 0n],
  );
  if (bookings !== 0n) return bookings === undefined ? undefined : false;
  return any.data && any.data.length === 0;
}
