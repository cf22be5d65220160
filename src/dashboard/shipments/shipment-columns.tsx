import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { createStore, useStore } from "../api/store.ts";
import { numberText } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import type { Column } from "../ui/table.tsx";
import { Money, Time } from "../ui/values.tsx";
import { StateBadge } from "./shipment-badge.tsx";
import { windowOf, windowText } from "./windows.ts";
import { ZoneChip } from "./zone-chip.tsx";

interface OptionalColumn extends Column<Shipment> {
  readonly id: string;
}

const ALWAYS: readonly Column<Shipment>[] = [
  {
    header: "Reference",
    selfEvident: true,
    cell: ({ reference }) => <code>{reference}</code>,
  },
  { header: "State", selfEvident: true, cell: (shipment) => <StateBadge {...shipment} /> },
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

export function useShipmentColumns(leftOut: readonly string[] = []): readonly Column<Shipment>[] {
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
