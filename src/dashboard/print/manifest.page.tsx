import { ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useIsTest, useTimeZone, useWorkspace } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, usePlace } from "../routes/router.ts";
import { loadNewest, MOST_LOADED } from "../shipments/newest-shipments.ts";
import { countText } from "../shipments/total-text.ts";
import { bookedWindows, hoursText } from "../shipments/windows.ts";
import { localDate } from "../ui/local-time.ts";
import { today } from "../ui/days.ts";
import { TextField } from "../ui/fields.tsx";
import { filterValues } from "../ui/filters.tsx";
import { numberText } from "../ui/format.ts";
import { Empty } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { PrintPage } from "./print-page.tsx";

/** What is looked through for those of a day. */
const WAITING = { status: ShipmentStatus.AWAITING_PICKUP };

const DAY = { day: { label: "Day of pickup", of: "day" } } as const;

export function ManifestPage() {
  const { query } = usePlace();
  const timeZone = useTimeZone();
  const { day = today(timeZone) } = filterValues(query, DAY);
  const client = useClient(ShipmentService);
  const waiting = useQuery((signal) => loadNewest(client, WAITING, signal), [client]);
  return (
    <PrintPage
      title="Manifest"
      up={{ label: "Shipments", href: paths.shipments() }}
      sheets={
        <QueryView query={waiting}>
          {({ shipments, isWhole }) => (
            <Manifest day={day} shipments={ofDay(shipments, day)} isWhole={isWhole} />
          )}
        </QueryView>
      }
    >
      {/* What is typed stays as it is, also while it is no day yet. */}
      <div class="filters" onInput={({ target }) => changeQuery(dayIn(target), { replace: true })}>
        <TextField label={DAY.day.label} name="day" type="date" value={day} />
      </div>
    </PrintPage>
  );
}

function dayIn(field: EventTarget | null) {
  const { value } = field as HTMLInputElement;
  const { day } = filterValues(new URLSearchParams({ day: value }), DAY);
  return day === undefined ? {} : { day };
}

/** Those whose pickup begins on the day, in that order, then those without a time, by their address. */
function ofDay(shipments: readonly Shipment[], day: string): readonly Shipment[] {
  return shipments
    .filter((it) => {
      const { pickup } = bookedWindows(it);
      return pickup === undefined || localDate(pickup.start, it.pickupWindow!.timeZone) === day;
    })
    .toSorted((a, b) => {
      const [first, second] = [startOf(a), startOf(b)];
      return first === second ? a.pickupAddress.localeCompare(b.pickupAddress) : first - second;
    });
}

function dayText(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeZone: "UTC" }).format(
    new Date(day),
  );
}

function startOf(shipment: Shipment): number {
  return bookedWindows(shipment).pickup?.start.getTime() ?? Infinity;
}

function Manifest(props: {
  readonly day: string;
  readonly shipments: readonly Shipment[];
  readonly isWhole: boolean;
}) {
  const { day, shipments, isWhole } = props;
  const name = useWorkspace()?.name;
  const isTest = useIsTest();
  if (shipments.length === 0 && isWhole) {
    return (
      <Empty title="Nothing is to be picked up on this day">
        A manifest has what is paid and waits for the courier.
      </Empty>
    );
  }
  const kilograms = shipments.reduce((sum, { weightKg }) => sum + weightKg, 0);
  return (
    <article class="sheet manifest" aria-label="Manifest" tabIndex={0}>
      <h2>
        {name}, {dayText(day)}
      </h2>
      <p>
        {countText(shipments.length)}, {numberText(kilograms)} kg
        {isTest && ". Test: nothing is to be picked up"}
      </p>
      {!isWhole && (
        <p class="problem attention">
          More than {numberText(MOST_LOADED)} shipments wait. Only those booked last were looked
          through, so some may be missing.
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Taken</th>
            <th scope="col">Shipment</th>
            <th scope="col">Time</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Weight</th>
          </tr>
        </thead>
        <tbody>
          {shipments.map((it) => (
            <ManifestRow key={it.reference} shipment={it} />
          ))}
        </tbody>
      </table>
      <p class="signature">Courier, time and signature</p>
    </article>
  );
}

function ManifestRow({ shipment }: { readonly shipment: Shipment }) {
  const { pickupWindow, externalReference } = shipment;
  const { pickup } = bookedWindows(shipment);
  return (
    <tr>
      <td class="tick">
        <span />
      </td>
      <th scope="row">
        {shipment.reference}
        {externalReference !== undefined && (
          <>
            <br />
            <span class="minor">{externalReference}</span>
          </>
        )}
      </th>
      <td>{pickup && pickupWindow ? hoursText(pickup, pickupWindow.timeZone) : "Any"}</td>
      <td>{shipment.pickupAddress}</td>
      <td>
        {shipment.dropoffAddress}
        <br />
        <span class="minor">{shipment.customer?.name}</span>
      </td>
      <td class="number">{numberText(shipment.weightKg)} kg</td>
    </tr>
  );
}
