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
import { useCall, useClient } from "../api/clients.ts";
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
import { useRole, useWorkspace } from "../api/session.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import { textOf } from "../ui/form-data.ts";
import { Menu } from "../ui/menu.tsx";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { ORDER_BY } from "../ui/table.tsx";
import { attempt } from "../ui/toast.tsx";
import { listedText } from "./newest-shipments.ts";
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
  return <span class={isBad ? "count bad" : "count"}>{count && countText(count)}</span>;
}

/** `12`, or `1,000+` where there are more than were counted. */
function countText({ count, more }: ShipmentCount): string {
  return `${numberText(count)}${more ? "+" : ""}`;
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
      {countText(listed)} {noun}
      {text !== undefined && ` · ${text}`}
      {text !== undefined &&
        cancelled!.count > 0 &&
        ` without ${numberText(cancelled!.count)} cancelled`}
    </p>
  );
}

const { deleteSavedFilter, listSavedFilters, renameSavedFilter, saveFilter } =
  AccountService.method;

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
  // Whether it is one of them is known once they are loaded.
  if (saved === undefined || (saved.length === 0 && text === "")) return null;
  return (
    <Menu label={current === undefined ? "Saved" : `Saved: ${current.name}`}>
      <nav class="quick-days" aria-label="Saved views">
        {saved.map((it) => (
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
      {current !== undefined ? (
        <ViewActions saved={current} />
      ) : (
        text !== "" && <SaveButtons {...{ view, text }} />
      )}
    </Menu>
  );
}

function SaveButtons({ view, text }: { readonly view: View; readonly text: string }) {
  const { live: workspace } = useWorkspace();
  const mayShare = useRole("member");
  const call = useCall();
  const query = new URLSearchParams(text);
  const isOfQueue = view.queue !== undefined || isUnfiltered(query);
  const isArranged = [...query.keys()].every((name) => [...NAMES, ...ARRANGED].includes(name));
  const keep = () =>
    attempt(
      () => call(saveFilter, { workspace, name: view.label, query: text }),
      `“${view.label}” is shown this way to you.`,
    );
  const label = {
    label: "Name",
    hint: "A view that you have saved under this name is replaced. Days such as “Today” move on with the calendar.",
  };
  return (
    <>
      {isOfQueue && isArranged && (
        <Button onClick={() => void keep()}>Show “{view.label}” this way</Button>
      )}
      <RpcButton
        button="Save this view"
        method={saveFilter}
        title="Save this view"
        submit="Save"
        request={{ workspace, query: text }}
        fields={{ name: label, ...(mayShare && { shared: "Share it with the workspace" }) }}
        done={(form) => `“${textOf(form, "name")}” is saved.`}
      />
    </>
  );
}

/** What can be done with a view: of somebody else's, admins delete it. */
function ViewActions({ saved }: { readonly saved: SavedFilter }) {
  const { live: workspace } = useWorkspace();
  const [mayShare, isAdmin] = [useRole("member"), useRole("admin")];
  const { id: savedFilter, name, query, shared, sharedBy } = saved;
  const call = useCall();
  const save = (isShared: boolean) =>
    call(saveFilter, { workspace, name, query, shared: isShared });
  const share = () =>
    attempt(
      () => save(!shared),
      shared ? `Only you see “${name}” now.` : `All of the workspace see “${name}” now.`,
    );
  const remove = () =>
    attempt(
      () => call(deleteSavedFilter, { workspace, savedFilter }),
      `“${name}” is deleted.`,
      sharedBy === undefined ? () => save(shared) : undefined,
    );
  if (sharedBy !== undefined && !isAdmin) return null;
  return (
    <>
      {sharedBy === undefined && mayShare && (
        <Button onClick={() => void share()}>{shared ? "Stop sharing it" : "Share it"}</Button>
      )}
      {sharedBy === undefined && (
        <RpcButton
          button="Rename"
          label={`Rename the view ${name}`}
          method={renameSavedFilter}
          title={`Rename “${name}”`}
          submit="Rename"
          request={{ workspace, savedFilter }}
          fields={{ name: "Name" }}
          values={saved}
          done={(form) => `It is “${textOf(form, "name")}” now.`}
        />
      )}
      <Button label={`Delete the view ${name}`} onClick={() => void remove()}>
        Delete
      </Button>
    </>
  );
}
