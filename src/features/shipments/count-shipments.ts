import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ShipmentCountSchema } from "../../../gen/shipments/v1/shipment_count_pb.js";
import { runStatement } from "../../db/statement.ts";
import { sumToMajor } from "../../domain/pricing/money.ts";
import { type ShipmentState, statesWith } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentFunctions } from "./shipment-deps.ts";
import { listParts, readShipmentFilters, selectListed, type ShipmentFilters } from "./shipment-filters.ts";

const MAX_COUNTED = 1_000;

/** Filters that each queue adds to the filters of the request. */
const QUEUES = {
  toPay: { status: "pending" },
  toPickUp: { status: "awaiting_pickup" },
  inTransit: { status: "in_transit" },
  refundDue: { paymentStatus: "refund_pending" },
  failed: { failed: true },
} as const satisfies Record<string, Partial<ShipmentState> | { readonly failed: true }>;

interface CountRow {
  /** Index of the list in `lists`. */
  readonly list: number;
  readonly currency: string;
  /** Number of shipments in this currency. The sum for a list is at most `MAX_COUNTED` + 1. */
  readonly found: number;
  readonly count: number;
  readonly totalMinor: string;
}

/**
 * Counts the filtered list and the same list in each queue, up to `MAX_COUNTED` each. Runs one
 * statement that reads only indexed ranges.
 */
export const countShipments: ShipmentFunctions["countShipments"] = async (request, { caller }, { em }) => {
  const filters = readShipmentFilters(caller.workspaceId, request);
  const any = { ...filters, status: undefined, paymentStatus: undefined, failed: undefined };
  const lists: Record<string, ShipmentFilters> = { listed: filters };
  for (const [queue, own] of Object.entries(QUEUES)) lists[queue] = { ...any, ...own };

  const values: unknown[] = [caller.workspaceId];
  const parts = Object.values(lists).flatMap((own, i) => {
    const states = statesWith(own);
    return states.length === 0 ? [] : [countPart(i, listParts(states, own, values))];
  });
  const sql = `select list, currency, count(*)::int as found,
      (count(*) filter (where row_number <= ${MAX_COUNTED}))::int as count,
      coalesce(sum(total_minor) filter (where row_number <= ${MAX_COUNTED}), 0)::text as "totalMinor"
    from (${parts.join(" union all ")}) as counted group by list, currency order by list, currency`;
  const rows = await runStatement<CountRow>(em, sql, values);
  const counts = Object.keys(lists).map((name, i) => [name, countMessage(rows.filter(({ list }) => list === i))]);
  return { data: Object.fromEntries(counts) as Record<string, never> };
};

/** Returns SQL for the newest rows of a list, numbered from 1. */
function countPart(list: number, parts: readonly string[]): string {
  const newest = selectListed("s.currency, s.total_minor", parts, `limit ${MAX_COUNTED + 1}`);
  return `select ${list} as list, currency, total_minor, row_number() over () from (${newest}) as newest`;
}

function countMessage(rows: readonly CountRow[]): MessageInitShape<typeof ShipmentCountSchema> {
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  return {
    count,
    more: rows.some((row) => row.found > row.count),
    totals: rows
      .filter((row) => row.count > 0)
      .map(({ currency, totalMinor }) => ({
        currency,
        total: sumToMajor(BigInt(totalMinor), currency),
      })),
  };
}
