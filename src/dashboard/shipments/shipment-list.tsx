import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ListShipmentsResponse } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Query } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { ListView } from "../ui/list-view.tsx";
import { SelectionBar } from "./selection.tsx";
import { useShipmentColumns } from "./shipment-columns.tsx";
import { WithZones } from "./zone-chip.tsx";

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
