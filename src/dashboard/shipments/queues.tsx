import type {
  CurrencyTotal,
  ShipmentCount,
  ShipmentCounts,
} from "../../../gen/shipments/v1/shipment_count_pb.js";
import { paths } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import { moneyText, numberText } from "../ui/format.ts";
import { Tabs } from "../ui/page.tsx";
import { PAGE_TOKEN } from "../ui/pager.tsx";

type Queue = Exclude<keyof ShipmentCounts, "listed" | `$${string}`>;

/** What waits for somebody's hand, by the filters that find it, as the address has them. */
const QUEUES: readonly {
  readonly label: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly queue?: Queue;
}[] = [
  { label: "All", filters: {} },
  { label: "To pay", filters: { status: "1" }, queue: "toPay" },
  { label: "To pick up", filters: { status: "2" }, queue: "toPickUp" },
  { label: "In transit", filters: { status: "3" }, queue: "inTransit" },
  { label: "Refund due", filters: { payment_status: "3" }, queue: "refundDue" },
  { label: "Failed", filters: { failed: "true" }, queue: "failed" },
];

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

/** How many there are. Only what needs somebody's hand has a colour. */
function Count({ queue, count }: { readonly queue: Queue; readonly count?: ShipmentCount }) {
  if (count === undefined) return null;
  const isBad = queue === "failed" && count.count > 0;
  return <span class={isBad ? "count bad" : "count"}>{countText(count)}</span>;
}

/** `12`, or `1,000+` where there are more than were counted. */
function countText({ count, more }: ShipmentCount): string {
  return `${numberText(count)}${more ? "+" : ""}`;
}

export function ListedTotals({ listed }: { readonly listed: ShipmentCount }) {
  const { count, more, totals } = listed;
  const noun = count === 1 && !more ? "shipment" : "shipments";
  return (
    <p>
      <strong>
        {countText(listed)} {noun}
      </strong>
      {count > 0 && (
        <span class="minor">
          {" "}
          {more ? `the newest ${numberText(count)} come to` : "·"} {sumText(totals)}
        </span>
      )}
    </p>
  );
}

function sumText(totals: readonly CurrencyTotal[]): string {
  const sums = totals.map(({ total, currency }) => moneyText(total, currency));
  return new Intl.ListFormat("en").format(sums);
}
