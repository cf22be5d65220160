import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { paths } from "../routes/paths.ts";
import { Money, Time } from "../ui/values.tsx";
import { PaymentBadge, ShipmentBadge } from "./shipment-badge.tsx";
import { type Column, Table } from "../ui/table.tsx";

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

/** Shipments, each leading to its page. */
export function ShipmentTable(props: {
  readonly workspace: string;
  readonly shipments: readonly Shipment[];
  /** Whether they are all of one customer, whom the page names. */
  readonly ofOneCustomer?: boolean;
}) {
  const { workspace, shipments, ofOneCustomer } = props;
  return (
    <Table
      label="Shipments"
      columns={ofOneCustomer ? COLUMNS.filter((it) => it !== CUSTOMER) : COLUMNS}
      rows={shipments}
      keyOf={({ reference }) => reference}
      href={({ reference }) => paths.shipment({ workspace, reference })}
    />
  );
}
