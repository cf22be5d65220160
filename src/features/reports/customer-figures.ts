import type { CustomerFigures } from "../../../gen/shipments/v1/customer_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { RecordOf } from "../../json/records.ts";
import { bookedMessage, figuresSql, type Revenue } from "./overview.ts";

/**
 * Sums up the shipments of customers by currency. Reads only a covering index, not the shipments. A shipment counts as
 * cancelled if its payment is neither made nor awaited.
 */
const FIGURES = `
  select asked.id::float8 as customer, counted.*
  from json_to_recordset($2) as asked (id bigint)
  cross join lateral (
    select currency, count(*)::float8 as bookings,
      (count(*) filter (where payment_status not in ('paid', 'awaiting_payment')))::float8
        as cancellations,
      ${figuresSql("paidMinor", "awaitingMinor")},
      (extract(epoch from max(created_at)) * 1000)::float8 as "lastBookedAtMs"
    from shipment
    where workspace_id = $1 and customer_id = asked.id
    group by currency
  ) as counted`;

interface Row extends Revenue {
  readonly customer: number;
  readonly lastBookedAtMs: number;
}

/**
 * Sums up the bookings of customers. Takes about a millisecond per thousand shipments.
 *
 * @param em can belong to a transaction
 * @param customers ids, at most one page
 * @returns figures by customer id
 */
export async function loadCustomerFigures(
  em: EntityManager,
  workspace: number,
  customers: readonly number[],
): Promise<ReadonlyMap<number, RecordOf<CustomerFigures>>> {
  const ids = JSON.stringify(customers.map((id) => ({ id })));
  const rows = await runStatement<Row>(em, FIGURES, [workspace, ids]);
  const own = Map.groupBy(rows, ({ customer }) => customer);
  return new Map(customers.map((id) => [id, figuresOf(own.get(id) ?? [])]));
}

function figuresOf(rows: readonly Row[]): RecordOf<CustomerFigures> {
  const { bookings, revenue } = bookedMessage(rows);
  const lastMs = Math.max(...rows.map(({ lastBookedAtMs }) => lastBookedAtMs));
  const lastBookedAt = rows.length === 0 ? null : Math.round(lastMs);
  return { shipments: bookings, revenue, lastBookedAt };
}
