import { type ComponentChildren, createContext } from "preact";
import { useState, useContext } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ListShipmentsResponse } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { type Query, useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { SelectionBar } from "./selection.tsx";
import { createStore, useStore } from "../api/store.ts";
import { numberText } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { type Column, ListView } from "../ui/table.tsx";
import { Money, Time } from "../ui/values.tsx";
import { AlertOrState } from "./shipment-badge.tsx";
import { windowOf, windowText } from "./windows.ts";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { useClient } from "../api/clients.ts";
import type { LatLng } from "../map/map-geometry.ts";
import "./zone-chip.css";

interface ShipmentListProps {
  readonly query: Query<ListShipmentsResponse>;
  readonly empty: ComponentChildren;
}

const OF_ONE_CUSTOMER = ["customer"];
const NO_SHIPMENTS: readonly Shipment[] = [];

export function ShipmentList(props: ShipmentListProps & { readonly ofOneCustomer?: boolean }) {
  const columns = useShipmentColumns(props.ofOneCustomer ? OF_ONE_CUSTOMER : []);
  return (
    <WithZones shipments={props.query.data?.data ?? NO_SHIPMENTS}>
      <ListView {...listProps(props)} columns={columns} />
    </WithZones>
  );
}

function listProps({ query, empty }: ShipmentListProps) {
  return {
    query,
    empty,
    label: "Shipments",
    oneLine: true,
    keyOf: ({ reference }: Shipment) => reference,
    href: ({ reference }: Shipment) => paths.shipment({ reference }),
  };
}

const NONE: ReadonlyMap<string, Shipment> = new Map();

/**
 * The same with rows that can be selected, from page to page, and what can be done with them. Give it a key
 * that changes with the filters: what does not match any more is not selected any more.
 */
export function SelectableShipmentList(props: ShipmentListProps) {
  const columns = useShipmentColumns();
  const [chosen, setChosen] = useState(NONE);
  const shown = new Map(props.query.data?.data.map((shipment) => [shipment.reference, shipment]));
  // As they were loaded last: what can be done with them may have changed.
  const selected = [...chosen.values()].map((it) => shown.get(it.reference) ?? it);
  const selection = {
    has: ({ reference }: Shipment) => chosen.has(reference),
    nameOf: ({ reference }: Shipment) => reference,
    change: (rows: readonly Shipment[], isSelected: boolean) =>
      setChosen((before) => {
        const after = new Map(before);
        for (const row of rows) {
          if (isSelected) after.set(row.reference, row);
          else after.delete(row.reference);
        }
        return after;
      }),
  };
  const changed = (references: readonly string[]) => {
    const done = new Set(references);
    setChosen((before) => new Map([...before].filter(([reference]) => !done.has(reference))));
    props.query.reload();
  };
  return (
    <>
      <WithZones shipments={props.query.data?.data ?? NO_SHIPMENTS}>
        <ListView {...listProps(props)} columns={columns} selection={selection} />
      </WithZones>
      <SelectionBar selected={selected} clear={() => setChosen(NONE)} changed={changed} />
    </>
  );
}

interface OptionalColumn extends Column<Shipment> {
  readonly id: string;
}

const ALWAYS: readonly Column<Shipment>[] = [
  {
    header: "Reference",
    selfEvident: true,
    cell: ({ reference }) => <code>{reference}</code>,
  },
  { header: "State", selfEvident: true, cell: (shipment) => <AlertOrState {...shipment} /> },
];

const OPTIONAL: readonly OptionalColumn[] = [
  {
    id: "external_reference",
    header: "External ref.",
    clips: true,
    cell: ({ externalReference }) => externalReference && <Clipped text={externalReference} />,
  },
  {
    id: "customer",
    header: "Customer",
    clips: true,
    selfEvident: true,
    cell: ({ customer }) => customer && <Clipped text={customer.name} title={customer.email} />,
  },
  {
    id: "from",
    header: "From",
    clips: true,
    cell: ({ pickupAddress, pickupLat: lat, pickupLng: lng }) => (
      <>
        <ZoneChip {...{ lat, lng }} /> <Clipped text={pickupAddress} />
      </>
    ),
  },
  {
    id: "to",
    header: "To",
    clips: true,
    cell: ({ dropoffAddress, dropoffLat: lat, dropoffLng: lng }) => (
      <>
        <ZoneChip {...{ lat, lng }} /> <Clipped text={dropoffAddress} />
      </>
    ),
  },
  {
    id: "pickup",
    header: "Pickup",
    clips: true,
    cell: ({ pickupWindow }) => <Clipped text={pickupText(pickupWindow)} />,
  },
  {
    id: "weight",
    header: "Weight",
    align: "end",
    selfEvident: true,
    cell: ({ weightKg }) => `${numberText(weightKg)} kg`,
  },
  {
    id: "distance",
    header: "Distance",
    align: "end",
    selfEvident: true,
    cell: ({ distanceKm }) => `${numberText(distanceKm, 1)} km`,
  },
  {
    id: "total",
    header: "Total",
    align: "end",
    selfEvident: true,
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  {
    id: "booked",
    header: "Booked",
    align: "end",
    selfEvident: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

function pickupText(window: Shipment["pickupWindow"]): string {
  return window === undefined
    ? "As soon as possible"
    : windowText(windowOf(window), window.timeZone);
}

/** Text that is cut off where it does not fit, and whole when it is pointed at. */
function Clipped({ text, title = text }: { readonly text: string; readonly title?: string }) {
  return <span title={title}>{text}</span>;
}

const DEFAULT = ["customer", "from", "to", "total", "booked"];
const STORED_AS = "shipment-columns";

const shown = createStore<readonly string[]>(stored());

function stored(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? "null");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : DEFAULT;
  } catch {
    return DEFAULT;
  }
}

function useShipmentColumns(leftOut: readonly string[] = []): readonly Column<Shipment>[] {
  const ids = useStore(shown);
  return [...ALWAYS, ...OPTIONAL.filter(({ id }) => ids.includes(id) && !leftOut.includes(id))];
}

/** Chooses which columns lists of shipments have; this browser remembers it. */
export function ColumnChooser() {
  const ids = useStore(shown);
  const toggle = (id: string) => {
    const next = ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id];
    localStorage.setItem(STORED_AS, JSON.stringify(next));
    shown.set(next);
  };
  return (
    <Menu label="Columns">
      <fieldset>
        <legend class="visually-hidden">Columns</legend>
        {OPTIONAL.map(({ id, header }) => (
          <label key={id}>
            <input type="checkbox" checked={ids.includes(id)} onChange={() => toggle(id)} />
            {header}
          </label>
        ))}
      </fieldset>
    </Menu>
  );
}

type Zones = ReadonlyMap<string, string>;

const NO_ZONES: Zones = new Map();

const ZonesOfPoints = createContext(NO_ZONES);

/** Asks for the zones of up to 50 shipments at once, so that what is within can show them. */
function WithZones(props: {
  readonly shipments: readonly Shipment[];
  readonly children: ComponentChildren;
}) {
  const coverage = useClient(CoverageService);
  const ends = props.shipments.flatMap((shipment) => [
    { lat: shipment.pickupLat, lng: shipment.pickupLng },
    { lat: shipment.dropoffLat, lng: shipment.dropoffLng },
  ]);
  const points = new Map(ends.map((end) => [keyOf(end), end]));
  const keys = [...points.keys()];
  // Without an answer there are no chips, and all else is there.
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
  if (name === undefined) return null;
  return (
    <span class="zone-chip" title={`Zone: ${name}`}>
      {name}
    </span>
  );
}

function keyOf({ lat, lng }: LatLng): string {
  return `${lat},${lng}`;
}
