import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import { CancelReason, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useTimeZone } from "../api/session.ts";
import { useQuery } from "../api/use-query.ts";
import type { LatLng } from "../map/map-geometry.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { dateOf, numberText } from "../ui/format.ts";
import { localDate, zoneSuffix } from "../ui/local-time.ts";
import { Menu } from "../ui/menu.tsx";
import { type Column, Line } from "../ui/table.tsx";
import { Money, Time, useNow } from "../ui/values.tsx";
import { STAGES } from "./delivery-choices.ts";
import { isAhead, Lateness } from "./lateness.tsx";
import { type End, ENDS, pointAt } from "./route.ts";
import { CANCEL_REASONS, PaymentAlert, StateBadge } from "./shipment-badge.tsx";
import { nextStopOf } from "./next-stop.ts";
import { dateText, hoursText, windowOf, windowText } from "./windows.ts";
import "./zone-chip.css";

/** Available columns of shipment lists, each with at most two lines. */
const COLUMNS = {
  pickup: {
    header: "Pickup",
    orders: ["pickup_window", "pickup_window desc"],
    cell: (shipment) => <WindowLines end="pickup" shipment={shipment} />,
  },
  dropoff: { header: "Dropoff", cell: (shipment) => <WindowLines end="dropoff" shipment={shipment} /> },
  cancelled: {
    header: "Cancelled",
    cell: ({ cancelledAt, cancelReason }) => (
      <>
        <Time at={cancelledAt} />
        <Line isMinor text={CANCEL_REASONS[cancelReason ?? CancelReason.UNSPECIFIED]} />
      </>
    ),
  },
  failure: {
    header: "What failed",
    clips: "wide",
    selfEvident: true,
    cell: (shipment) => (
      <>
        <PaymentAlert {...shipment} />
        <Line isMinor text={shipment.paymentDetails?.refundError ?? shipment.paymentDetails?.error} />
      </>
    ),
  },
  shipment: {
    header: "Shipment",
    leads: true,
    selfEvident: true,
    cell: ({ reference, externalReference }) => (
      <>
        <code>{reference}</code>
        <Line isMinor text={externalReference} />
      </>
    ),
  },
  state: {
    header: "State",
    selfEvident: true,
    cell: (shipment) => (
      <>
        <StateBadge {...shipment} />
        <PaymentAlert {...shipment} />
      </>
    ),
  },
  customer: {
    header: "Customer",
    clips: true,
    selfEvident: true,
    cell: ({ customer }) => (
      <span class="lines" title={customer?.email}>
        {customer?.name}
      </span>
    ),
  },
  route: {
    header: "From, to",
    clips: "wide",
    selfEvident: true,
    spare: true,
    cell: (shipment) => (
      <>
        <WithZone end="pickup" shipment={shipment} text={shipment.pickupAddress} />
        <WithZone sign="→" end="dropoff" shipment={shipment} text={shipment.dropoffAddress} />
      </>
    ),
  },
  recipient: {
    header: "Recipient",
    clips: "wide",
    selfEvident: true,
    cell: (shipment) => (
      <>
        <WithZone end="dropoff" shipment={shipment} text={shipment.recipientName ?? shipment.customer?.name} />
        <Line text={shipment.dropoffAddress} />
      </>
    ),
  },
  parcel: {
    header: "Parcel",
    align: "end",
    selfEvident: true,
    spare: "first",
    cell: ({ weightKg, distanceKm }) => (
      <>
        {numberText(weightKg)} kg
        <Line isMinor text={`${numberText(distanceKm, 1)} km`} />
      </>
    ),
  },
  courier: {
    header: "Courier",
    clips: true,
    cell: (shipment) => <CourierLines shipment={shipment} />,
  },
  eta: { header: "ETA", cell: (shipment) => <Eta {...shipment} /> },
  nextStop: {
    header: "Next stop",
    clips: "wide",
    selfEvident: true,
    cell: (shipment) => <NextStop shipment={shipment} />,
  },
  stop: { header: "Stop", align: "end", cell: ({ courier }) => courier?.sequence ?? "—" },
  total: {
    header: "Total",
    align: "end",
    selfEvident: true,
    orders: ["total desc", "total"],
    cell: (shipment) => (
      <>
        <Money amount={shipment.total} currency={shipment.currency} />
        <span class="line">
          <PaymentAlert {...shipment} />
        </span>
      </>
    ),
  },
  booked: {
    header: "Booked",
    selfEvident: true,
    spare: true,
    orders: ["created_at desc", "created_at"],
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  bookedTotal: {
    header: "Booked, total",
    align: "end",
    selfEvident: true,
    orders: ["created_at desc", "created_at"],
    cell: ({ createdAt, total, currency }) => (
      <>
        <Time at={createdAt} />
        <span class="line">
          <Money amount={total} currency={currency} />
        </span>
      </>
    ),
  },
} as const satisfies Readonly<Record<string, Column<Shipment>>>;

export type ColumnId = keyof typeof COLUMNS;

const IDS = Object.keys(COLUMNS) as ColumnId[];

interface EndProps {
  readonly end: End;
  readonly shipment: Shipment;
}

/** A text about the pickup or dropoff, and the zone, which stays visible if the text is cut off. */
function WithZone(props: EndProps & { readonly sign?: string; readonly text: string | undefined }) {
  const { sign, text, end, shipment } = props;
  return (
    <span class="with-zone">
      {sign && `${sign} `}
      <Line text={text} /> <ZoneChip {...pointAt(shipment, end)} />
    </span>
  );
}

/** Shows the pickup or dropoff time, and how long the shipment is late or has waited there. */
function WindowLines({ end, shipment }: EndProps) {
  const window = shipment[`${end}Window` as const];
  if (window === undefined) {
    return (
      <>
        <Line text="ASAP" title="As soon as possible" />
        <span class="line minor">
          {" "}
          <Lateness withDropoff {...{ end, shipment }} />
        </span>
      </>
    );
  }
  const { timeZone } = window;
  const span = windowOf(window);
  const title = windowText(span, timeZone);
  const day = dateText(localDate(span.start, timeZone)) + zoneSuffix(span.start, timeZone);
  return (
    <>
      <Line text={hoursText(span, timeZone)} title={title} />
      <Line isMinor text={day} title={title}>
        <Lateness end={end} shipment={shipment} /> {day}
      </Line>
    </>
  );
}

/** Shows the person and address of the next stop, its window, and how long the shipment is late or has waited. */
function NextStop({ shipment }: { readonly shipment: Shipment }) {
  const { end, contact, window, address } = nextStopOf(shipment);
  return (
    <>
      <WithZone {...{ end, shipment }} text={address} />
      <span class="line minor">
        {contact && `${contact} · `}
        <Lateness withDropoff {...{ end, shipment }} />
        {window && ` ${windowText(windowOf(window), window.timeZone)}`}
      </span>
    </>
  );
}

/** Shows the courier, with the failed attempts or the stage of the delivery. */
function CourierLines({ shipment }: { readonly shipment: Shipment }) {
  const { courier, stage, attempts } = shipment;
  return (
    <>
      {courier?.courierId === undefined ? (
        <Line text={courier?.name ?? "—"} />
      ) : (
        <a class="line" href={paths.courier({ courier: courier.courierId })}>
          {courier.name}
        </a>
      )}
      {attempts.length > 0 ? (
        <span class={isAhead("dropoff", shipment) ? "line late" : "line minor"}>{attempts.length} failed</span>
      ) : (
        <Line isMinor text={STAGES[stage ?? DeliveryStage.UNSPECIFIED]} />
      )}
    </>
  );
}

/** Shows the expected arrival at the dropoff. */
function Eta({ dropoffEta, dropoffWindow }: Shipment) {
  const timeZone = useTimeZone();
  const now = useNow();
  if (dropoffEta === undefined) return null;
  const eta = dateOf(dropoffEta);
  return (
    <>
      <Line text={hoursText({ start: eta, end: eta }, dropoffWindow?.timeZone ?? timeZone)} />
      <span class={eta < now ? "line late" : "line minor"}>
        <Time at={eta} />
      </span>
    </>
  );
}

export const COLUMNS_BY = "columns";

interface ColumnView {
  readonly columns: readonly ColumnId[];
}

function useIds({ columns }: ColumnView): readonly ColumnId[] {
  const ids: readonly string[] = useLocation().query.get(COLUMNS_BY)?.split(".") ?? columns;
  // The view's columns come first, in the view's order.
  return [...new Set([...columns, ...IDS])].filter((id) => id === "shipment" || ids.includes(id));
}

export function useShipmentColumns(view: ColumnView): readonly Column<Shipment>[] {
  const ids = useIds(view);
  // At medium widths, the customer does not fit beside both addresses and their zones.
  const hasRoute = ids.includes("route");
  return ids.map((id) => (hasRoute && id === "customer" ? { ...COLUMNS[id], spare: "medium" } : COLUMNS[id]));
}

/** A control that selects a view's columns. */
export function ColumnChooser({ view }: { readonly view: ColumnView }) {
  const ids = useIds(view);
  const toggle = (id: ColumnId) => {
    const next = ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
    const isUsual = new Set(next).symmetricDifference(new Set(view.columns)).size === 0;
    changeQuery({ [COLUMNS_BY]: isUsual ? undefined : next.join(".") }, { replace: true });
  };
  return (
    <Menu label="Columns">
      <fieldset>
        <legend class="visually-hidden">Columns</legend>
        {IDS.filter((id) => id !== "shipment").map((id) => (
          <label key={id}>
            <input type="checkbox" checked={ids.includes(id)} onChange={() => toggle(id)} />
            {COLUMNS[id].header}
          </label>
        ))}
      </fieldset>
      <p class="hint">Narrow lists hide some columns.</p>
    </Menu>
  );
}

type Zones = ReadonlyMap<string, string>;

const NO_ZONES: Zones = new Map();

const ZonesOfPoints = createContext(NO_ZONES);

/** Loads the zones of up to 50 shipments with one request, for use by its children. */
export function WithZones(props: { readonly shipments: readonly Shipment[]; readonly children: ComponentChildren }) {
  const coverage = useClient(CoverageService);
  const ends = props.shipments.flatMap((shipment) => ENDS.map((end) => pointAt(shipment, end)));
  const points = new Map(ends.map((end) => [keyOf(end), end]));
  const keys = [...points.keys()];
  // If the request fails, only the zone chips are missing.
  const { data: zones = NO_ZONES } = useQuery(
    async (signal): Promise<Zones> => {
      if (keys.length === 0) return NO_ZONES;
      const { data } = await coverage.findZones({ points: [...points.values()] }, { signal });
      return new Map(data.flatMap(({ zone }, i) => (zone ? [[keys[i]!, zone.name]] : [])));
    },
    [coverage, keys.join(" ")],
  );
  return <ZonesOfPoints.Provider value={zones}>{props.children}</ZonesOfPoints.Provider>;
}

function ZoneChip(point: LatLng) {
  const name = useContext(ZonesOfPoints).get(keyOf(point));
  // An empty chip reserves the space while loading.
  return (
    <span class="zone-chip" title={name && `Zone: ${name}`}>
      {name}
    </span>
  );
}

function keyOf({ lat, lng }: LatLng): string {
  return `${lat},${lng}`;
}
