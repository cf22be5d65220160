import type { ComponentChildren } from "preact";
import { useList } from "../ui/table.tsx";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import {
  ShipmentService,
  type ExportShipmentsRequestSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole, useTimeZone } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { usePlace, changeQuery } from "../routes/router.ts";
import { choicesOf } from "../ui/description-list.tsx";
import { daysOf, today, LinkChoice, QuickDays } from "../ui/days.tsx";
import { boundsOfDays, Filters, filterValues } from "../ui/filters.tsx";
import type { Choices } from "../ui/fields.tsx";
import { recordIdOf, bytesText } from "../ui/format.ts";
import { lazily } from "../ui/lazily.tsx";
import { FIRST_PAGE } from "../ui/pager.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { Spinner, Progress } from "../ui/query-view.tsx";
import { ListedTotals, Queues, filtersText, SavedFilters, useCounts } from "./queues.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { ColumnChooser, SelectableShipmentList, ShipmentList } from "./shipment-list.tsx";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { useClient } from "../api/clients.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, openDialog } from "../ui/dialog.tsx";
import { Menu } from "../ui/menu.tsx";

const QUEUED: ReadonlySet<ShipmentStatus | undefined> = new Set([
  ShipmentStatus.PENDING,
  ShipmentStatus.AWAITING_PICKUP,
  ShipmentStatus.IN_TRANSIT,
]);

/** What the list is shown as, by its name in the address, and what of the address is of one view alone. */
const VIEW = "view";
const VIEWS: Choices = [
  ["", "List"],
  ["map", "Map"],
];
const OF_VIEWS = ["order_by", "end"];

const STATES = {
  status: { label: "Status", choices: choicesOf(SHIPMENT_STATES), names: ShipmentStatus },
  payment_status: { label: "Payment", choices: choicesOf(PAYMENT_STATES), names: PaymentStatus },
} as const;
const OTHERS = {
  from: { label: "Booked from", of: "day" },
  to: { label: "Booked until", of: "day" },
  customer: { label: "Customer number", of: "number" },
  external_reference: { label: "External reference" },
} as const;
const FILTERS = { ...STATES, ...OTHERS };

export function ShipmentsPage() {
  const { query } = usePlace();
  const timeZone = useTimeZone();
  const isMap = query.get(VIEW) === "map";
  const filters = filtersOf(query, timeZone);
  const isQueue = isOneQueue(filters);
  const counted = useCounts(filters, filtersText(query));
  const mayChange = useRole("member");
  const book = mayChange && (
    <a class="button primary" href={paths.book()}>
      Book a shipment
    </a>
  );
  const empty = <NoShipments isNarrowed={filtersText(query) !== ""} book={book} />;
  return (
    <Page
      title="Shipments"
      actions={
        <>
          {!isMap && <ColumnChooser />}
          <ExportMenu filters={filters} />
          {book}
        </>
      }
    >
      <Queues counts={counted.counts} />
      <Filters fields={filters.failed ? OTHERS : FILTERS} />
      <QuickDays />
      <SavedFilters />
      <div class="list-head">
        <ListedTotals {...counted} />
        <LinkChoice
          label="View"
          name={VIEW}
          choices={VIEWS}
          current={isMap ? "map" : ""}
          without={OF_VIEWS}
        />
        {!isMap && <Sorting isQueue={isQueue} />}
      </div>
      {isMap ? (
        <LazyMap {...{ filters, empty }} of={filtersText(query)} />
      ) : (
        <Listed {...{ filters, isQueue, mayChange, empty }} />
      )}
    </Page>
  );
}

function Listed(props: {
  readonly filters: ReturnType<typeof filtersOf>;
  readonly isQueue: boolean;
  readonly mayChange: boolean;
  readonly empty: ComponentChildren;
}) {
  const { filters, isQueue, mayChange, empty } = props;
  const { query } = usePlace();
  const orderBy = orderOf(query, isQueue);
  const list = useList(ShipmentService.method.listShipments, { ...filters, orderBy });
  useLive(list.reload);
  const shown = { query: list, empty };
  return mayChange ? (
    <SelectableShipmentList key={filtersText(query)} {...shown} />
  ) : (
    <ShipmentList {...shown} />
  );
}

const LazyMap = lazily(
  () => import("./shipment-map.tsx").then(({ ShipmentMap }) => ShipmentMap),
  () => <Spinner label="Loading the map" />,
);

function NoShipments(props: { readonly isNarrowed: boolean; readonly book: ComponentChildren }) {
  if (!props.isNarrowed) {
    return (
      <Empty title="No shipments yet" action={props.book}>
        Shipments that are booked here or through the API appear on this page.
      </Empty>
    );
  }
  const link = { label: "Show all shipments", href: paths.shipments() };
  return (
    <Empty title="No shipments match" link={link}>
      Change the filters, or search by a reference, a name, an email or an address.
    </Empty>
  );
}

function filtersOf(query: URLSearchParams, timeZone: string | undefined) {
  const values = filterValues(query, FILTERS);
  const failed = query.get("failed") === "true";
  const { from, to } = daysOf(query, values, today(timeZone));
  return {
    // What failed is of any status.
    status: failed ? undefined : enumOf<ShipmentStatus>(values.status),
    paymentStatus: failed ? undefined : enumOf<PaymentStatus>(values.payment_status),
    customerId: recordIdOf(values.customer ?? ""),
    externalReference: values.external_reference,
    ...boundsOfDays(from, to, timeZone),
    failed,
  };
}

function enumOf<E extends number>(value: string | undefined): E | undefined {
  return value ? (Number(value) as E) : undefined;
}

/** Whether these are shipments of which the same is due, and all of those. */
function isOneQueue({ status, paymentStatus, failed, ...others }: ReturnType<typeof filtersOf>) {
  if (failed || Object.values(others).some((value) => value !== undefined)) return false;
  if (paymentStatus === undefined) return QUEUED.has(status);
  return status === undefined && paymentStatus === PaymentStatus.REFUND_PENDING;
}

interface ExportProps {
  readonly filters: MessageInitShape<typeof ExportShipmentsRequestSchema>;
}

function ExportMenu({ filters }: ExportProps) {
  return (
    <Menu label="Export">
      <Button quiet onClick={() => openDialog(<ExportDialog filters={filters} />)}>
        CSV file of this list
      </Button>
      <a class="button quiet" href={paths.manifest()}>
        Manifest of a day
      </a>
    </Menu>
  );
}

function ExportDialog(props: ExportProps) {
  const client = useClient(ShipmentService);
  const [bytes, setBytes] = useState<number>();
  const [controller] = useState(() => new AbortController());
  // Who closes the dialog wants no file any more.
  useEffect(() => () => controller.abort(), []);
  const run = async () => {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    setBytes(size);
    // It takes as long as data comes.
    const options = { signal: controller.signal, timeoutMs: 0 };
    for await (const { csv } of client.exportShipments(props.filters, options)) {
      pieces.push(csv as Uint8Array<ArrayBuffer>);
      setBytes((size += csv.length));
    }
    save(new Blob(pieces, { type: "text/csv" }), "shipments.csv");
  };
  return (
    <Dialog title="Export shipments" submit="Export" run={run}>
      <p>
        All shipments of the list, with its filters and not only of this page, as a CSV file for
        spreadsheets, the newest first.
      </p>
      {bytes !== undefined && <Progress label={`${bytesText(bytes)} so far`} />}
    </Dialog>
  );
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const USUAL = "created_at desc";

/** For any list, then for one queue without other filters. */
const OF_ANY = [
  [USUAL, "Newest first"],
  ["created_at", "Oldest first"],
] as const;
const OF_QUEUE = [
  ["pickup_window", "Earliest pickup first"],
  ["pickup_window desc", "Latest pickup first"],
  ["total desc", "Largest total first"],
  ["total", "Smallest total first"],
] as const;

const ORDER_BY = "order_by";

function orderOf(query: URLSearchParams, isQueue: boolean): string | undefined {
  const choices = [...OF_ANY, ...(isQueue ? OF_QUEUE : [])];
  const asked = query.get(ORDER_BY);
  return choices.find(([order]) => order === asked && order !== USUAL)?.[0];
}

function Sorting({ isQueue }: { readonly isQueue: boolean }) {
  const { query } = usePlace();
  const order = orderOf(query, isQueue) ?? USUAL;
  const choose = (chosen: string) =>
    changeQuery({ [ORDER_BY]: chosen === USUAL ? undefined : chosen, ...FIRST_PAGE });
  return (
    <label>
      Sort
      <select onChange={(event) => choose(event.currentTarget.value)}>
        {[...OF_ANY, ...OF_QUEUE].map(([value, label]) => (
          <option
            key={value}
            value={value}
            selected={value === order}
            disabled={!isQueue && OF_QUEUE.some(([it]) => it === value)}
          >
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
