import { useContext } from "preact/hooks";
import type { Overview } from "../../../gen/shipments/v1/report_pb.js";
import { ReportService } from "../../../gen/shipments/v1/report_service_pb.js";
import type { ShipmentCount, ShipmentCounts } from "../../../gen/shipments/v1/shipment_count_pb.js";
import { ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { AttentionKind, WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useLive } from "../api/live.ts";
import { useIsTest, useRole, useTimeZone, useWorkspace } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { shownWith, useRepeat, useRpc } from "../api/use-query.ts";
import { AttentionQuery, cappedText } from "../attention/attention-query.ts";
import { paths } from "../routes/paths.ts";
import { countedText } from "../shipments/newest-shipments.ts";
import { TestClockQuery } from "../test-mode/test-clock.ts";
import { DAY_LABELS, DayRange, rangeBefore, useDayRange } from "../ui/days.tsx";
import { Figures } from "../ui/description-list.tsx";
import { Page, Section, QueryView } from "../ui/page.tsx";
import { SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { BookingBlockers } from "../workspaces/booking-blockers.tsx";
import { TimeZoneButton } from "../workspaces/time-zone-button.tsx";
import type { Comparison } from "./difference.ts";
import { DeliveryReport, OverviewCharts, OverviewFigures } from "./overview-charts.tsx";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { localDate } from "../ui/local-time.ts";

/**
 * Reload interval of the figures, in milliseconds. Events alone are not enough, because quotes
 * cause none and a response can be older than the event that triggered the reload.
 */
const REPEAT_MS = 10_000;

export function OverviewPage() {
  const today = useToday();
  return today === undefined ? <Page title="Overview" /> : <OverviewAt today={today} />;
}

function OverviewAt({ today }: { readonly today: string }) {
  const range = useDayRange(today);
  const overview = useRpc(ReportService.method.getOverview, range);
  const before = useRpc(ReportService.method.getOverview, rangeBefore(range));
  const about = useRpc(WorkspaceService.method.getWorkspace, {});
  const queues = useRpc(ShipmentService.method.countShipments, {});
  const isNew = useIsNew(overview.data?.data);
  useLive(overview.reload);
  useLive(queues.reload);
  useRepeat(overview.reload, REPEAT_MS);
  const { bookingBlockers = [] } = about.data?.data ?? {};
  return (
    <Page title="Overview">
      <div class="stack">
        <BookingBlockers blockers={bookingBlockers} />
        {isNew === true ? (
          <FirstSteps />
        ) : (
          <>
            <Now counts={queues.data?.data} />
            <DayRange now={today} />
            <QueryView query={shownWith(overview, before, about)} labels={DAY_LABELS}>
              {({ data }) =>
                data && isNew === false && <Shown overview={data} before={before.data?.data} today={today} />
              }
            </QueryView>
          </>
        )}
      </div>
    </Page>
  );
}

const LATE: readonly AttentionKind[] = [AttentionKind.PICKUP_LATE, AttentionKind.DELIVERY_LATE];

function queueOf(status: ShipmentStatus, count: ShipmentCount | undefined) {
  const href = paths.shipments({}, { status: String(status) });
  return { term: SHIPMENT_STATES[status][0], value: count ? countedText(count) : "…", href };
}

/** The work at hand: the queues, and the late shipments that the layout has loaded for the navigation. */
function Now({ counts }: { readonly counts: ShipmentCounts | undefined }) {
  const { ofWorkspace } = useContext(AttentionQuery)!.data ?? {};
  const late = ofWorkspace?.filter(({ kind }) => LATE.includes(kind)).map(({ count }) => count);
  return (
    <section class="three-counts" aria-label="Now">
      <h2>Now</h2>
      <Figures
        items={[
          queueOf(ShipmentStatus.AWAITING_PICKUP, counts?.toPickUp),
          queueOf(ShipmentStatus.IN_TRANSIT, counts?.inTransit),
          {
            term: "Late",
            value: late ? <span class={late.some(Boolean) ? "late" : undefined}>{cappedText(...late)}</span> : "…",
            href: paths.attention(),
          },
        ]}
      />
    </section>
  );
}

function Shown(comparison: Comparison) {
  const { overview } = comparison;
  return (
    <div class="stack">
      <OverviewFigures
        {...comparison}
        hrefOf={(filters) => paths.shipments({}, { from: overview.fromDate, to: overview.toDate, ...filters })}
      />
      <DeliveryReport {...comparison} />
      <OverviewCharts {...comparison} />
    </div>
  );
}

/** Whether the workspace has never had a shipment, or `undefined` while unknown. */
function useIsNew(overview: Overview | undefined): boolean | undefined {
  const bookings = overview?.totals?.bookings;
  const any = useRpc(ShipmentService.method.listShipments, bookings === 0n ? { pageSize: 1 } : undefined);
  if (bookings !== 0n) return bookings === undefined ? undefined : false;
  return any.data && any.data.data.length === 0;
}

function ApiLink() {
  return <a href={paths.apiKeys()}>Developers → API</a>;
}

function FirstSteps() {
  const isAdmin = useRole("admin");
  return (
    <Section title="No bookings yet: first steps">
      <ol class="steps">
        <li>
          <strong>Book a shipment</strong> at the price of its route.{" "}
          <a class="button primary" href={paths.book()}>
            Quote and book
          </a>
        </li>
        <TimeZoneStep />
        <li>
          <strong>Get a key.</strong>{" "}
          {isAdmin
            ? "Create one for your API client on "
            : "An admin of the workspace creates one for your API client on "}
          <ApiLink />.
        </li>
        <li>
          <strong>Receive events</strong> with a webhook: <a href={paths.webhooks()}>Developers → Webhooks</a>.
        </li>
      </ol>
    </Section>
  );
}

/** Setup step shown to admins until a time zone other than the default, UTC, is chosen. */
function TimeZoneStep() {
  const { name, timeZone, isTest } = useWorkspace();
  const mayChange = useRole("admin") && !isTest;
  if (!mayChange || timeZone !== "UTC") return null;
  return (
    <li>
      <strong>Choose your time zone.</strong> Days and times on these pages are in UTC.{" "}
      <TimeZoneButton method={WorkspaceService.method.updateWorkspace} then={loadAccount} {...{ name, timeZone }} />
    </li>
  );
}

/** Returns the workspace's current day, such as `2026-12-01`, or `undefined` while unknown. */
function useToday(): string | undefined {
  const timeZone = useTimeZone() ?? "UTC";
  const isTest = useIsTest();
  const { data: clock, problem } = useContext(TestClockQuery)!;
  if (isTest && clock === undefined && problem === undefined) return undefined;
  const now = clock?.time && clock.frozen ? timestampDate(clock.time) : new Date();
  return localDate(now, timeZone);
}
