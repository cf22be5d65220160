import type { ComponentChildren } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentCount } from "../../../gen/shipments/v1/shipment_count_pb.js";
import type { Query } from "../api/use-query.ts";
import { WorkspaceId } from "../api/session.ts";
import type { LatLng } from "../map/map-geometry.ts";
import { paths } from "../routes/paths.ts";
import { lazily } from "../ui/lazily.tsx";
import { Spinner } from "../ui/page.tsx";
import { ListView, type Order, type TableProps } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { countText } from "./newest-shipments.ts";
import { Selection, useActs } from "./selection.tsx";
import { type ColumnId, useShipmentColumns, WithZones } from "./shipment-columns.tsx";
import { isUnordered } from "./next-stop.ts";

interface ShipmentListProps {
  readonly query: Query<{ readonly data: readonly Shipment[]; readonly nextPageToken?: string }>;
  readonly empty: ComponentChildren;
  readonly view: { readonly columns: readonly ColumnId[] };
  readonly order?: Order;
  /** Filters of the list, if a map is shown beside it. */
  readonly mapOf?: string | undefined;
  /** Whether the shipments are a courier's run. Its map shows the next stops and their numbers. */
  readonly isRun?: boolean;
  /** Location of the courier of a run, shown on the map. */
  readonly courier?: LatLng | undefined;
  /** Number of shipments on all pages, or `undefined` while unknown. */
  readonly listed?: ShipmentCount | undefined;
}

const NO_SHIPMENTS: readonly Shipment[] = [];

const ShipmentPage = lazily(
  () => import("./shipment.page.tsx"),
  "ShipmentPage",
  <Spinner label="Loading the shipment" />,
);

const LazyMap = lazily(() => import("./shipment-map.tsx"), "MapBeside", <Spinner label="Loading the map" />);

export function ShipmentList(props: ShipmentListProps & Pick<TableProps<Shipment>, "selection" | "rowKeys">) {
  const { view, mapOf, isRun = false, courier, listed, ...list } = props;
  // Filters of the displayed rows. They differ from `mapOf` until the new rows have loaded.
  const shownOf = useRef(mapOf);
  if (!list.query.isOutdated) shownOf.current = mapOf;
  const workspace = useContext(WorkspaceId)!;
  return (
    <WithZones shipments={props.query.data?.data ?? NO_SHIPMENTS}>
      <ListView
        {...list}
        label="Shipments"
        isList
        columns={useShipmentColumns(view)}
        groupOf={isRun ? (shipment) => (isUnordered(shipment) ? "Not in order yet" : undefined) : undefined}
        keyOf={({ reference }) => reference}
        href={({ reference }) => paths.shipment({ reference })}
        opened={{
          hrefOf: (reference) => paths.shipment({ reference }),
          view: (reference) => <ShipmentPage {...{ workspace, reference }} />,
        }}
        beside={
          mapOf === undefined
            ? undefined
            : (shipments, peek) => (
                <LazyMap
                  {...{ shipments, listed, isRun, courier }}
                  of={shownOf.current ?? mapOf}
                  open={peek && (({ reference }) => peek.open(reference))}
                />
              )
        }
      />
    </WithZones>
  );
}

const NONE: ReadonlyMap<string, Shipment> = new Map();

/**
 * A shipment list with rows that can be selected across pages, and actions for the selection.
 * Shortcuts act on the selection, or on the focused row if nothing is selected.
 *
 * @param props.of filters; a change deselects shipments that no longer match
 * @param props.children contents above the list while no row is selected
 */
export function SelectableShipmentList(
  props: ShipmentListProps & { readonly of: string; readonly children: ComponentChildren },
) {
  const { of, children, ...list } = props;
  const [choice, setChoice] = useState({ of, rows: NONE });
  const chosen = choice.of === of ? choice.rows : NONE;
  const setChosen = (change: (before: typeof NONE) => typeof NONE) =>
    setChoice((before) => ({ of, rows: change(before.of === of ? before.rows : NONE) }));
  const shown = new Map(list.query.data?.data.map((shipment) => [shipment.reference, shipment]));
  // Use the latest loaded versions, because the available actions may have changed.
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
    list.query.reload();
  };
  const clear = () => {
    setChosen(() => NONE);
    toast(`${countText(selected.length)} ${selected.length === 1 ? "is" : "are"} no longer selected.`, () =>
      // Rows that were selected in another list since then stay selected.
      setChoice((now) => (now.of === of ? { of, rows: chosen } : now)),
    );
  };
  const acts = useActs(changed);
  const rowKeys = acts.keysFor((row) => (selected.length > 0 || !row ? selected : [row]));
  return (
    <>
      <div class="list-bar" hidden={selected.length > 0}>
        {children}
      </div>
      <Selection {...{ selected, clear, acts }} />
      <ShipmentList {...list} {...{ selection, rowKeys }} />
    </>
  );
}
