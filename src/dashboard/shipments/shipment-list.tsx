import type { ComponentChildren } from "preact";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ListShipmentsResponse } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Query } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Money, Time } from "../ui/values.tsx";
import { PaymentBadge, ShipmentBadge } from "./shipment-badge.tsx";
import { ListView } from "../ui/list-view.tsx";
import type { Column } from "../ui/table.tsx";

const CUSTOMER: Column<Shipment> = {
  header: "Customer",
  selfEvident: true,
  cell: ({ customer }) => customer?.name,
};

const COLUMNS: readonly Column<Shipment>[] = [
  {
    header: "Reference",
    selfEvident: true,
    cell: ({ reference }) => <code>{reference}</code>,
  },
  {
    header: "Status",
    selfEvident: true,
    cell: ({ status }) => <ShipmentBadge status={status} />,
  },
  {
    header: "Payment",
    selfEvident: true,
    cell: ({ paymentStatus }) => <PaymentBadge status={paymentStatus} />,
  },
  CUSTOMER,
  {
    header: "From → to",
    selfEvident: true,
    cell: ({ pickupAddress, dropoffAddress }) => `${pickupAddress} → ${dropoffAddress}`,
  },
  {
    header: "Total",
    align: "end",
    selfEvident: true,
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  {
    header: "Booked",
    align: "end",
    selfEvident: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];

/** A list of shipments, each leading to its page. */
export function ShipmentList(props: {
  readonly workspace: string;
  readonly query: Query<ListShipmentsResponse>;
  readonly empty: ComponentChildren;
  /** Whether they are all of one customer, whom the page names. */
  readonly ofOneCustomer?: boolean;
}) {
  const { workspace, query, empty, ofOneCustomer } = props;
  return (
    <ListView
      query={query}
      label="Shipments"
      columns={ofOneCustomer ? COLUMNS.filter((column) => column !== CUSTOMER) : COLUMNS}
      keyOf={({ reference }) => reference}
      href={({ reference }) => paths.shipment({ workspace, reference })}
      empty={empty}
    />
  );
}
