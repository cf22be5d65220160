import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { useEffect } from "preact/hooks";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import {
  ShipmentService,
  type CountShipmentsRequestSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import {
  ShipmentCountSchema,
  type ShipmentCount,
  type ShipmentCounts,
} from "../../../gen/shipments/v1/shipment_count_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { reloads } from "../api/use-action.ts";
import { paths } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import { numberText } from "../ui/format.ts";
import { Tabs } from "../ui/page.tsx";
import { FIRST_PAGE } from "../ui/pager.tsx";
import {
  AccountService,
  type SavedFilter,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { Menu } from "../ui/menu.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { ORDER_BY } from "../ui/table.tsx";
import { countedText, listedText } from "./newest-shipments.ts";
import { ChangeButtons, SaveButtons } from "./saved-view-actions.tsx";
import { type ColumnId, COLUMNS_BY } from "./shipment-columns.tsx";

type Queue = Exclude<keyof ShipmentCounts, "listed" | `$${string}`>;

/** A task's list: its filters, columns and order. */
export interface View {
  readonly label: string;
  /** Filters, as in the URL. */
  readonly filters: Readonly<Record<string, string>>;
  readonly queue?: Queue;
  readonly columns: readonly ColumnId[];
  readonly order: string;
  /** Empty state once the queue is cleared. */
  readonly done: string;
}

const ALL: View = {
  label: "All",
  filters: {},
  columns: ["shipment", "state", "customer", "route", "bookedTotal"],
  order: "created_at desc",
  done: "No shipments yet",
};

/** Queues of shipments that need action. */
const QUEUES: readonly View[] = [
  {
    ...ofStatus(ShipmentStatus.PENDING),
    queue: "toPay",
    columns: ["booked", "shipment", "customer", "route", "total"],
    order: "created_at",
    done: "No shipments to pay",
  },
  {
    ...ofStatus(ShipmentStatus.AWAITING_PICKUP),
    queue: "toPickUp",
    columns: ["pickup", "shipment", "customer", "route", "parcel"],
    order: "pickup_window",
    done: "No shipments to pick up",
  },
  {
    ...ofStatus(ShipmentStatus.IN_TRANSIT),
    queue: "inTransit",
    columns: ["dropoff", "shipment", "customer", "route", "booked"],
    order: "pickup_window",
    done: "No shipments in transit",
  },
  {
    label: PAYMENT_STATES[PaymentStatus.REFUND_PENDING][0],
    filters: { payment_status: String(PaymentStatus.REFUND_PENDING) },
    queue: "refundDue",
    columns: ["cancelled", "shipment", "customer", "total", "booked"],
    order: "created_at",
    done: "No refunds due",
  },
  {
    label: "Failed",
    filters: { failed: "true" },
    queue: "failed",
    columns: ["failure", "shipment", "customer", "bookedTotal"],
    order: "created_at desc",
    done: "No failed shipments",
  },
];

function ofStatus(status: ShipmentStatus) {
  return { label: SHIPMENT_STATES[status][0], filters: { status: String(status) } };
}

const NAMES = ["status", "payment_status", "failed"];

/** Returns the queue with these filters, or the default view of other lists. */
export function viewOf(values: Readonly<Record<string, string | undefined>>): View {
  const isFound = ({ filters }: View) =>
    NAMES.every((name) => filters[name] === (values[name] || undefined));
  return QUEUES.find(isFound) ?? ALL;
}

/** Query parameters for the arrangement of a list. Each queue and saved view has its own. */
const ARRANGED = [ORDER_BY, COLUMNS_BY];

function isUnfiltered(query: URLSearchParams): boolean {
  return NAMES.every((name) => !query.get(name));
}

function isOwn({ name, sharedBy }: SavedFilter, label: string): boolean {
  return sharedBy === undefined && name === label;
}

/** Links to the queues with their counts. Other filters are kept, the arrangement is not. */
export function Queues(props: {
  readonly view: View;
  readonly counts: ShipmentCounts | undefined;
  readonly saved: readonly SavedFilter[] | undefined;
}) {
  const { view, counts, saved } = props;
  const { query } = useLocation();
  const others = Object.fromEntries(query);
  for (const name of [...NAMES, ...ARRANGED, ...Object.keys(FIRST_PAGE)]) delete others[name];
  const isAll = isUnfiltered(query);
  const arrangementOf = ({ label }: View) => {
    const kept = new URLSearchParams(saved?.find((it) => isOwn(it, label))?.query);
    return Object.fromEntries(ARRANGED.map((name) => [name, kept.get(name) ?? undefined]));
  };
  return (
    <Tabs
      label="Queues"
      tabs={[ALL, ...QUEUES].map((each) => ({
        label: each.label,
        href: paths.shipments({}, { ...others, ...arrangementOf(each), ...each.filters }),
        current: each === view && (each !== ALL || isAll),
        note: each.queue && <Count queue={each.queue} count={counts?.[each.queue]} />,
      }))}
    />
  );
}

/** The number of shipments in a queue. Only queues that need action are colored. */
function Count(props: {
  readonly queue: Queue;
  /** `undefined` while unknown. Its space is reserved. */
  readonly count: ShipmentCount | undefined;
}) {
  const { queue, count } = props;
  const isBad = queue === "failed" && count !== undefined && count.count > 0;
  return <span class={isBad ? "count bad" : "count"}>{count && countedText(count)}</span>;
}

/** Minimum time between reloads of the counts while events arrive, in milliseconds. */
const COUNTS_MS = 5_000;
const NONE = create(ShipmentCountSchema);

type Counted = MessageInitShape<typeof CountShipmentsRequestSchema>;

/**
 * Loads the counts of a list, its queues, and its cancelled shipments. Cancelled shipments are not
 * counted for the `failed` filter, which lists them because their refunds failed.
 *
 * @param of the filters as text
 */
export function useCounts(filters: Counted, of: string) {
  const client = useClient(ShipmentService);
  const query = useQuery(
    async (signal) => {
      const count = async (request: Counted) =>
        (await client.countShipments(request, { signal })).data;
      const counts = await count(filters);
      const { status = ShipmentStatus.CANCELLED, failed } = filters;
      const mayBeCancelled =
        !failed && status === ShipmentStatus.CANCELLED && counts?.listed?.more === false;
      const cancelled = mayBeCancelled ? (await count({ ...filters, status }))?.listed : NONE;
      return { counts, cancelled };
    },
    [client, of],
  );
  const { reload } = query;
  useEffect(() => reloads.subscribe(reload), [reload]);
  useLive(reload, undefined, COUNTS_MS);
  return query.data ?? { counts: undefined, cancelled: undefined };
}

/** The number of listed shipments, and the total of those that are not cancelled. */
export function ListedTotals({ counts, cancelled }: ReturnType<typeof useCounts>) {
  const listed = counts?.listed;
  // Reserves its line.
  if (listed === undefined) return <p class="minor totals">…</p>;
  const noun = listed.count === 1 && !listed.more ? "shipment" : "shipments";
  const text = cancelled && listedText(listed, cancelled);
  return (
    <p class="minor totals">
      {countedText(listed)} {noun}
      {text !== undefined && ` · ${text}`}
      {text !== undefined &&
        cancelled!.count > 0 &&
        ` without ${numberText(cancelled!.count)} cancelled`}
    </p>
  );
}

const { listSavedFilters } = AccountService.method;

/** Query parameters that are not part of a saved view. */
const OF_NO_VIEW: ReadonlySet<string> = new Set([...Object.keys(FIRST_PAGE), "view", "end"]);

/** Returns the filters, order and columns of a URL, independent of their sequence. */
function viewText(query: URLSearchParams): string {
  const given = [...query].filter(([name, value]) => !OF_NO_VIEW.has(name) && value !== "");
  return new URLSearchParams(given.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** Returns the filters and order without the columns, which identify the contents of the list. */
export function filtersText(query: URLSearchParams): string {
  const filters = new URLSearchParams(query);
  filters.delete(COLUMNS_BY);
  return viewText(filters);
}

/** Loads the views of the workspace saved by the reader or shared by others. */
export function useSavedViews(): readonly SavedFilter[] | undefined {
  const { live } = useWorkspace();
  return useRpc(listSavedFilters, { workspace: live }).data?.data;
}

/** The saved views as links. The current list can be saved, shared, renamed and deleted. */
export function SavedViews(props: {
  readonly view: View;
  readonly saved: readonly SavedFilter[] | undefined;
}) {
  const { view, saved } = props;
  const { pathname, query } = useLocation();
  const text = viewText(query);
  const current = saved?.find((it) => it.query === text);
  // The button renders before the views load, so that the layout does not shift.
  return (
    <Menu label={<SavedLabel name={current?.name} mayBeNamed={text !== ""} />}>
      {saved?.length === 0 && text === "" && (
        <p class="minor">No saved views. Filter the list to save a view of it.</p>
      )}
      <nav class="quick-days" aria-label="Saved views">
        {saved?.map((it) => (
          <a
            key={String(it.id)}
            href={it.query === "" ? pathname : `${pathname}?${it.query}`}
            aria-current={it === current ? "true" : undefined}
          >
            {it.name}
            {it.sharedBy && <span class="minor"> by {it.sharedBy}</span>}
          </a>
        ))}
      </nav>
      {current && <ChangeButtons saved={current} />}
      {saved && !current && text !== "" && (
        <SaveButtons name={view.label} text={text} isArranged={isArranged(view, query, text)} />
      )}
    </Menu>
  );
}

/** Whether the list differs from its queue only in order and columns. */
function isArranged(view: View, query: URLSearchParams, text: string): boolean {
  return (
    (view.queue !== undefined || isUnfiltered(query)) &&
    [...new URLSearchParams(text).keys()].every((name) => [...NAMES, ...ARRANGED].includes(name))
  );
}

/** As wide before the views are loaded as after. On a phone there is no room for a name. */
function SavedLabel(props: { readonly name: string | undefined; readonly mayBeNamed: boolean }) {
  const { name, mayBeNamed } = props;
  return (
    <span class={mayBeNamed ? "saved-name" : undefined}>
      Saved{name !== undefined && `: ${name}`}
    </span>
  );
}
