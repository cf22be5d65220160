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
import { PAGE_TOKEN } from "../ui/pager.tsx";
import {
  AccountService,
  type SavedFilter,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useQuery, useRpc } from "../api/use-query.ts";
import { RpcButton } from "../ui/dialog.tsx";
import { textOf } from "../ui/form-data.ts";
import { PAYMENT_STATES, SHIPMENT_STATES } from "../ui/shipment-states.ts";
import { listedText } from "./newest-shipments.ts";

type Queue = Exclude<keyof ShipmentCounts, "listed" | `$${string}`>;

/** What waits for somebody's hand, by the filters that find it, as the address has them. */
const QUEUES: readonly {
  readonly label: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly queue?: Queue;
}[] = [
  { label: "All", filters: {} },
  { ...ofStatus(ShipmentStatus.PENDING), queue: "toPay" },
  { ...ofStatus(ShipmentStatus.AWAITING_PICKUP), queue: "toPickUp" },
  { ...ofStatus(ShipmentStatus.IN_TRANSIT), queue: "inTransit" },
  {
    label: PAYMENT_STATES[PaymentStatus.REFUND_PENDING][0],
    filters: { payment_status: String(PaymentStatus.REFUND_PENDING) },
    queue: "refundDue",
  },
  { label: "Failed", filters: { failed: "true" }, queue: "failed" },
];

function ofStatus(status: ShipmentStatus) {
  return { label: SHIPMENT_STATES[status][0], filters: { status: String(status) } };
}

const NAMES = ["status", "payment_status", "failed"];

/**
 * Leads to the queues of the day's work, and says how much is in each; what the list is narrowed by besides
 * stays, but not how it is sorted, which is not for all of them.
 */
export function Queues({ counts }: { readonly counts: ShipmentCounts | undefined }) {
  const { query } = usePlace();
  const others = Object.fromEntries(query);
  for (const name of [...NAMES, "order_by", PAGE_TOKEN]) delete others[name];
  return (
    <Tabs
      label="Queues"
      tabs={QUEUES.map(({ label, filters, queue }) => ({
        label,
        href: paths.shipments({}, { ...others, ...filters }),
        current: NAMES.every((name) => filters[name] === (query.get(name) ?? undefined)),
        note: queue && counts && <Count queue={queue} count={counts[queue]} />,
      }))}
    />
  );
}

/** How many there are. Only what needs action has a colour. */
function Count({ queue, count }: { readonly queue: Queue; readonly count?: ShipmentCount }) {
  if (count === undefined) return null;
  const isBad = queue === "failed" && count.count > 0;
  return <span class={isBad ? "count bad" : "count"}>{countText(count)}</span>;
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
 * The counts of a list and its queues, and how many of the list are cancelled; that is undefined for what failed, of
 * which they cannot be told apart.
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
      if (failed) return { counts };
      const mayBeCancelled = status === ShipmentStatus.CANCELLED && counts?.listed?.more === false;
      const cancelled = mayBeCancelled ? (await count({ ...filters, status }))?.listed : NONE;
      return { counts, cancelled };
    },
    [client, of],
  );
  const { reload } = query;
  useEffect(() => reloads.subscribe(reload), [reload]);
  useLive(reload, undefined, COUNTS_MS);
  return query.data ?? { counts: undefined };
}

/** How many shipments are listed, and what those cost that are not cancelled. */
export function ListedTotals({ counts, cancelled }: ReturnType<typeof useCounts>) {
  const listed = counts?.listed;
  if (listed === undefined) return <p />;
  const noun = listed.count === 1 && !listed.more ? "shipment" : "shipments";
  const text = cancelled && listedText(listed, cancelled);
  return (
    <p>
      <strong>
        {countText(listed)} {noun}
      </strong>
      {text !== undefined && (
        <span class="minor">
          {" "}
          · {text}
          {cancelled!.count > 0 && ` without ${numberText(cancelled!.count)} cancelled`}
        </span>
      )}
    </p>
  );
}

const { deleteSavedFilter, listSavedFilters, renameSavedFilter, saveFilter } =
  AccountService.method;

/** What of the address says how the list is shown, not what is in it. */
const NO_FILTERS: ReadonlySet<string> = new Set([PAGE_TOKEN, "view", "end"]);

/** The filters and the order of an address, whatever the page of the list and the order in which they are said. */
export function filtersText(query: URLSearchParams): string {
  const given = [...query].filter(([name, value]) => !NO_FILTERS.has(name) && value !== "");
  return new URLSearchParams(given.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** The filters that the reader has saved, each a link; what the list shows now can be saved, renamed and deleted. */
export function SavedFilters() {
  const { pathname, query } = usePlace();
  const { live } = useWorkspace();
  const list = useRpc(listSavedFilters, { workspace: live });
  const saved = list.data?.data;
  const text = filtersText(query);
  const current = saved?.find((it) => it.query === text);
  // Whether it is one of them is known once they are loaded.
  if (saved === undefined || (saved.length === 0 && text === "")) return null;
  return (
    <div class="saved-filters">
      {saved.length > 0 && (
        <nav class="quick-days" aria-label="Saved filters">
          <span class="minor">Saved</span>
          {saved.map((it) => (
            <a
              key={String(it.id)}
              href={it.query === "" ? pathname : `${pathname}?${it.query}`}
              aria-current={it === current ? "true" : undefined}
            >
              {it.name}
            </a>
          ))}
        </nav>
      )}
      <div class="row-actions">
        {current !== undefined ? (
          <FilterActions filter={current} workspace={live} />
        ) : (
          text !== "" && (
            <RpcButton
              button="Save this filter"
              method={saveFilter}
              title="Save this filter"
              submit="Save"
              request={{ workspace: live, query: text }}
              fields={{
                name: {
                  label: "Name",
                  hint: "Only you see it. A filter that you have saved under this name is replaced. Days such as “Today” move on with the calendar.",
                },
              }}
              done={(form) => `“${textOf(form, "name")}” is saved.`}
            />
          )
        )}
      </div>
    </div>
  );
}

function FilterActions(props: { readonly workspace: bigint; readonly filter: SavedFilter }) {
  const { workspace, filter } = props;
  const request = { workspace, savedFilter: filter.id };
  return (
    <>
      <RpcButton
        button="Rename"
        label={`Rename the filter ${filter.name}`}
        method={renameSavedFilter}
        title={`Rename “${filter.name}”`}
        submit="Rename"
        request={request}
        fields={{ name: "Name" }}
        values={filter}
        done={(form) => `It is “${textOf(form, "name")}” now.`}
      />
      <RpcButton
        button="Delete"
        label={`Delete the filter ${filter.name}`}
        method={deleteSavedFilter}
        title={`Delete the filter “${filter.name}”?`}
        submit="Delete the filter"
        tone="danger"
        dismiss="Keep it"
        request={request}
        done={`“${filter.name}” is deleted.`}
      >
        <p>The shipments stay as they are.</p>
      </RpcButton>
    </>
  );
}
