import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readInOrder } from "../../db/transaction.ts";
import { endPage, type Page, type PageRequest, readPage, toId } from "../../pipeline/page.ts";
import { LAST_BOOKED_AT } from "./customer-figure.entity.ts";
import { type CustomerRecord, customerRecordJson } from "./customer.entity.ts";

interface FigureOrder {
  /** Name of the figure, as in `CustomerFigure`. */
  readonly figure: string;
  readonly isDescending: boolean;
}

/**
 * Parses an `order_by` that sorts by a figure. Returns `undefined` for other orders, and if there is no such figure.
 *
 * @param currency currency in which payments are compared. `undefined` if no tariff is in force
 */
export function figureOf(orderBy: string | undefined, currency: string | undefined): FigureOrder | undefined {
  const [field, direction] = orderBy?.split(" ") ?? [];
  if (field !== LAST_BOOKED_AT && field !== "paid") return undefined;
  const figure = field === "paid" ? currency : field;
  return figure === undefined ? undefined : { figure, isDescending: direction === "desc" };
}

/** The last customer of a page. */
interface Position {
  readonly id: number;
  /** The figure by which the first page was sorted. */
  readonly figure: string;
  /** The customer's value. `undefined` if the customer has no such figure. */
  readonly value: number | undefined;
}

function toPosition([id, figure, value]: readonly unknown[]): Position | undefined {
  const customer = toId([id]);
  if (customer === undefined || typeof figure !== "string") return undefined;
  return { id: customer, figure, value: toId([value]) };
}

interface RankedCustomer {
  readonly customer: CustomerRecord;
  /** null if the customer has no such figure. */
  readonly value: number | null;
}

/** Lists customers by a figure. Customers without it come last, the newest first. */
export async function listByFigure(
  em: EntityManager,
  request: PageRequest,
  filters: { readonly workspace: number },
  { figure: requested, isDescending }: FigureOrder,
) {
  const page = readPage(request, filters, toPosition);
  const figure = page.after?.figure ?? requested;
  const list = { ...page, workspace: filters.workspace, figure, isDescending };
  const found = await readInOrder(em, async (tx) => {
    const ranked = await selectRanked(tx, list);
    return ranked.length === page.limit ? ranked : [...ranked, ...(await selectUnranked(tx, list, ranked.length))];
  });
  const { rows, nextPageToken } = endPage(found, page, ({ customer, value }) => [customer.id, figure, value ?? ""]);
  return { rows: rows.map(({ customer }) => customer), nextPageToken };
}

interface FigureList extends Page<Position>, FigureOrder {
  readonly workspace: number;
}

async function selectRanked(tx: EntityManager, list: FigureList): Promise<RankedCustomer[]> {
  const { workspace, figure, isDescending, after, limit } = list;
  if (after !== undefined && after.value === undefined) return [];
  const [direction, follows] = isDescending ? ["desc", "<"] : ["asc", ">"];
  const rest = after === undefined ? "" : `and (ranked.value, ranked.customer_id) ${follows} ($4, $5)`;
  const sql = `select ${customerRecordJson("customer")} as customer, ranked.value::float8 as value
    from customer_figure as ranked
      join customer on customer.workspace_id = $1 and customer.id = ranked.customer_id
    where ranked.workspace_id = $1 and ranked.name = $2 ${rest}
    order by ranked.value ${direction}, ranked.customer_id ${direction} limit $3`;
  const position = after === undefined ? [] : [after.value, after.id];
  return runStatement<RankedCustomer>(tx, sql, [workspace, figure, limit, ...position]);
}

/** Selects customers without the figure, after those with it. */
async function selectUnranked(tx: EntityManager, list: FigureList, ranked: number): Promise<RankedCustomer[]> {
  const { workspace, figure, after, limit } = list;
  const values: unknown[] = [workspace, figure, limit - ranked];
  const isContinued = after !== undefined && after.value === undefined;
  const older = isContinued ? `and id < $${values.push(after.id)}` : "";
  const sql = `select ${customerRecordJson("customer")} as customer, null as value from customer
    where workspace_id = $1 ${older} and not exists (
      select from customer_figure as ranked
      where ranked.workspace_id = $1 and ranked.customer_id = customer.id and ranked.name = $2)
    order by id desc limit $3`;
  return runStatement<RankedCustomer>(tx, sql, values);
}
