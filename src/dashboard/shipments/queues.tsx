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
import { usePlace } from "../routes/router.ts";
import { numberText } from "../ui/format.ts";
import { Tabs } from "../ui/page.tsx";
import { FIRST_PAGE } from "../ui/pager.tsx";
import {
  AccountService,
  type SavedFilter,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { lazily } from "../ui/lazily.tsx";
import { Menu } from "../ui/menu.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { ORDER_BY } from "../ui/table.tsx";
import { countedText, listedText } from "./newest-shipments.ts";
import { type ColumnId, COLUMNS_BY } from "./shipment-columns.tsx";

type Queue = Exclude<keyof ShipmentCounts, "listed" | `$${string}`>;

/** What is listed for one task: what of it, with which columns, in which order. */
export interface View {
  readonly label: string;
  /** What finds it, as the address has it. */
  readonly filters: Readonly<Record<string, string>>;
  readonly queue?: Queue;
  readonly columns: readonly ColumnId[];
  readonly order: string;
  /** What is said when nothing is left to do. */
  readonly done: string;
}

const ALL: View = {
  label: "All",
  filters: {},
  columns: ["shipment", "state", "customer", "route", "bookedTotal"],
  order: "created_at desc",
  done: "No shipments yet",
};

/** What waits for somebody's hand. */
const QUEUES: readonly View[] = [
  {
    ...ofStatus(ShipmentStatus.PENDING),
    queue: "toPay",
    columns: ["booked", "shipment", "customer", "route", "total"],
    order: "created_at",
    done: "Nothing is to be paid",
  },
  {
    ...ofStatus(ShipmentStatus.AWAITING_PICKUP),
    queue: "toPickUp",
    columns: ["pickup", "shipment", "customer", "route", "parcel"],
    order: "pickup_window",
    done: "Nothing is to be picked up",
  },
  {
    ...ofStatus(ShipmentStatus.IN_TRANSIT),
    queue: "inTransit",
    columns: ["dropoff", "shipment", "customer", "route", "booked"],
    order: "pickup_window",
    done: "Nothing is on its way",
  },
  {
    label: PAYMENT_STATES[PaymentStatus.REFUND_PENDING][0],
    filters: { payment_status: String(PaymentStatus.REFUND_PENDING) },
    queue: "refundDue",
    columns: ["cancelled", "shipment", "customer", "total", "booked"],
    order: "created_at",
    done: "No refund is due",
  },
  {
    label: "Failed",
    filters: { failed: "true" },
    queue: "failed",
    columns: ["failure", "shipment", "customer", "bookedTotal"],
    order: "created_at desc",
    done: "Nothing failed",
  },
];

function ofStatus(status: ShipmentStatus) {
  return { label: SHIPMENT_STATES[status][0], filters: { status: String(status) } };
}

const NAMES = ["status", "payment_status", "failed"];

/** The queue that these filters find, or the view of all lists that are none. */
export function viewOf(values: Readonly<Record<string, string | undefined>>): View {
  const isFound = ({ filters }: View) =>
    NAMES.every((name) => filters[name] === (values[name] || undefined));
  return QUEUES.find(isFound) ?? ALL;
}

/** How a list is arranged: each queue has its own, or what the reader has saved under its name. */
const ARRANGED = [ORDER_BY, COLUMNS_BY];

function isUnfiltered(query: URLSearchParams): boolean {
  return NAMES.every((name) => !query.get(name));
}

function isOwn({ name, sharedBy }: SavedFilter, label: string): boolean {
  return sharedBy === undefined && name === label;
}

/**
 * Leads to the queues of the day's work, and says how much is in each; what the list is narrowed by besides
 * stays, but not how it is arranged.
 */
export function Queues(props: {
  readonly view: View;
  readonly counts: ShipmentCounts | undefined;
  readonly saved: readonly SavedFilter[] | undefined;
}) {
  const { view, counts, saved } = props;
  const { query } = usePlace();
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

/** How many there are. Only what needs action has a colour. */
function Count(props: {
  readonly queue: Queue;
  /** Undefined as long as it is not known; its room is kept for it. */
  readonly count: ShipmentCount | undefined;
}) {
  const { queue, count } = props;
  const isBad = queue === "failed" && count !== undefined && count.count > 0;
  return <span class={isBad ? "count bad" : "count"}>{count && countedText(count)}</span>;
}

/** How often the counts are reloaded at most while things happen, in milliseconds. */
const COUNTS_MS = 5_000;
const NONE = create(ShipmentCountSchema);

type Counted = MessageInitShape<typeof CountShipmentsRequestSchema>;

/**
 * The counts of a list and its queues, and how many of the list are cancelled; none of what failed, where money is to
 * go back for them.
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

/** How many shipments are listed, and what those cost that are not cancelled. */
export function ListedTotals({ counts, cancelled }: ReturnType<typeof useCounts>) {
  const listed = counts?.listed;
  // Its line is kept for it.
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

/** What of the address is of no view: the page, what is open, and where on a map. */
const OF_NO_VIEW: ReadonlySet<string> = new Set([...Object.keys(FIRST_PAGE), "view", "end"]);

/** The filters, the order and the columns of an address, in whatever order they are said. */
function viewText(query: URLSearchParams): string {
  const given = [...query].filter(([name, value]) => !OF_NO_VIEW.has(name) && value !== "");
  return new URLSearchParams(given.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** The same without the columns: what is in the list. */
export function filtersText(query: URLSearchParams): string {
  const filters = new URLSearchParams(query);
  filters.delete(COLUMNS_BY);
  return viewText(filters);
}

/** The views of the workspace that the reader has saved, and those that others share. */
export function useSavedViews(): readonly SavedFilter[] | undefined {
  const { live } = useWorkspace();
  return useRpc(listSavedFilters, { workspace: live }).data?.data;
}

/** The views that are saved, each a link; what the list shows now can be saved, shared, renamed and deleted. */
export function SavedViews(props: {
  readonly view: View;
  readonly saved: readonly SavedFilter[] | undefined;
}) {
  const { view, saved } = props;
  const { pathname, query } = usePlace();
  const text = viewText(query);
  const current = saved?.find((it) => it.query === text);
  // The button is there before the views are, so that it moves nothing when they come.
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
      {saved && (current ?? text) !== "" && (
        <ViewActions {...{ current, view, text }} isArranged={isArranged(view, query)} />
      )}
    </Menu>
  );
}

/** Whether the list differs from its queue only in order and columns. */
function isArranged(view: View, query: URLSearchParams): boolean {
  const names = new URLSearchParams(viewText(query)).keys();
  return (
    (view.queue !== undefined || isUnfiltered(query)) &&
    [...names].every((name) => [...NAMES, ...ARRANGED].includes(name))
  );
}

/** Loaded once something is saved or can be. */
const ViewActions = lazily(() =>
  import("./saved-view-actions.tsx").then((actions) => actions.ViewActions),
);

/** As wide before the views are loaded as after. On a phone there is no room for a name. */
function SavedLabel(props: { readonly name: string | undefined; readonly mayBeNamed: boolean }) {
  const { name, mayBeNamed } = props;
  return (
    <span class={mayBeNamed ? "saved-name" : undefined}>
      Saved{name !== undefined && `: ${name}`}
    </span>
  );
}
