import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { useEffect } from "preact/hooks";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService, type CountShipmentsRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
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
import { AccountService, type SavedFilter } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { Menu } from "../ui/menu.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { ORDER_BY } from "../ui/table.tsx";
import { countedText, listedText } from "./newest-shipments.ts";
import { ChangeButtons, SaveButtons } from "./saved-view-actions.tsx";
import { type ColumnId, COLUMNS_BY } from "./shipment-columns.tsx";

type Queue = Exclude<keyof ShipmentCounts, "listed" | `$${string}`>;

/** A preset of the shipment list: filters, columns and order. */
export interface View {
  readonly label: string;
  /** Filters as query parameters. */
  readonly filters: Readonly<Record<string, string>>;
  readonly queue?: Queue;
  readonly columns: readonly ColumnId[];
  readonly order: string;
  /** Text shown when the queue is empty. */
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
    columns: ["pickup", "shipment", "customer", "route", "courier", "parcel"],
    order: "pickup_window",
    done: "No shipments to pick up",
  },
  {
    ...ofStatus(ShipmentStatus.IN_TRANSIT),
    queue: "inTransit",
    columns: ["dropoff", "shipment", "recipient", "courier", "eta"],
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
    label: "Failed payments",
    filters: { failed: "true" },
    queue: "failed",
    columns: ["failure", "shipment", "customer", "bookedTotal"],
    order: "created_at desc",
    done: "No failed payments",
  },
];

function ofStatus(status: ShipmentStatus) {
  return { label: SHIPMENT_STATES[status][0], filters: { status: String(status) } };
}

const NAMES = ["status", "payment_status", "failed"];

/** Returns the queue with these filters, or the default view if none matches. */
export function viewOf(values: Readonly<Record<string, string | undefined>>): View {
  const isFound = ({ filters }: View) => NAMES.every((name) => filters[name] === (values[name] || undefined));
  return QUEUES.find(isFound) ?? ALL;
}

/** Query parameters for order and columns. Each queue and saved view has its own values. */
const ARRANGED = [ORDER_BY, COLUMNS_BY];

function isUnfiltered(query: URLSearchParams): boolean {
  return NAMES.every((name) => !query.get(name));
}

/** Links to the queues with their counts. A link keeps the other filters but not order and columns. */
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
    const own = saved?.find(({ name, sharedBy }) => sharedBy === undefined && name === label);
    const savedQuery = new URLSearchParams(own?.query);
    return Object.fromEntries(ARRANGED.map((name) => [name, savedQuery.get(name) ?? undefined]));
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

/** Shows the number of shipments in a queue, in color if the queue lists failures. Reserves its space while unknown. */
function Count({ queue, count }: { readonly queue: Queue; readonly count: ShipmentCount | undefined }) {
  const isBad = queue === "failed" && count !== undefined && count.count > 0;
  return <span class={isBad ? "count bad" : "count"}>{count && countedText(count)}</span>;
}

/** Minimum time between count reloads while events arrive, in milliseconds. */
const COUNTS_MS = 5_000;
const NONE = create(ShipmentCountSchema);

type Counted = MessageInitShape<typeof CountShipmentsRequestSchema>;

/**
 * Loads the counts of a list, its queues and its cancelled shipments. With the `failed` filter,
 * cancelled shipments are not counted, because that list contains them for their failed refunds.
 *
 * @param of the filters as text
 */
export function useCounts(filters: Counted, of: string) {
  const client = useClient(ShipmentService);
  const query = useQuery(
    async (signal) => {
      const count = async (request: Counted) => (await client.countShipments(request, { signal })).data;
      const counts = await count(filters);
      const { status = ShipmentStatus.CANCELLED, failed } = filters;
      const mayBeCancelled = !failed && status === ShipmentStatus.CANCELLED && counts?.listed?.more === false;
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

/** Shows the number of listed shipments and the sum of those that are not cancelled. */
export function ListedTotals({ counts, cancelled }: ReturnType<typeof useCounts>) {
  const listed = counts?.listed;
  // Reserve the line while loading.
  if (listed === undefined) return <p class="minor totals">…</p>;
  const noun = listed.count === 1 && !listed.more ? "shipment" : "shipments";
  const text = cancelled && listedText(listed, cancelled);
  return (
    <p class="minor totals">
      {countedText(listed)} {noun}
      {text !== undefined && ` · ${text}`}
      {text !== undefined && cancelled!.count > 0 && ` excluding ${numberText(cancelled!.count)} cancelled`}
    </p>
  );
}

/** Query parameters that are not part of a saved view. */
const OF_NO_VIEW: ReadonlySet<string> = new Set([...Object.keys(FIRST_PAGE), "view", "end"]);

/** Returns a URL's filters, order and columns as text. The sequence of the parameters does not matter. */
function viewText(query: URLSearchParams): string {
  const parameters = [...query].filter(([name, value]) => !OF_NO_VIEW.has(name) && value !== "");
  return new URLSearchParams(parameters.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** Returns the filters and order as text, without columns. They determine the contents of the list. */
export function filtersText(query: URLSearchParams): string {
  const filters = new URLSearchParams(query);
  filters.delete(COLUMNS_BY);
  return viewText(filters);
}

/** Loads the workspace's views that the user saved or others shared. */
export function useSavedViews(): readonly SavedFilter[] | undefined {
  const { live } = useWorkspace();
  return useRpc(AccountService.method.listSavedFilters, { workspace: live }).data?.data;
}

/** Menu of saved views. The current list can be saved, and views can be shared, renamed and deleted. */
export function SavedViews(props: { readonly view: View; readonly saved: readonly SavedFilter[] | undefined }) {
  const { view, saved } = props;
  const { pathname, query } = useLocation();
  const text = viewText(query);
  const current = saved?.find((it) => it.query === text);
  // Render the button before the views load, so that the layout does not shift.
  return (
    <Menu label={<span class="saved-name">Saved{current && `: ${current.name}`}</span>}>
      {saved?.length === 0 && text === "" && <p class="minor">No saved views.</p>}
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
