import { columnsOf, type Row } from "../../db/columns.ts";
import { customerJson, type CustomerRow } from "../customers/customer.entity.ts";
import { Shipment } from "./shipment.entity.ts";

/** A shipment with its customer, as stored. Amounts are in minor units of the currency. */
export type ShipmentRow = Row<Shipment, "workspace" | "customer" | "quoted"> & {
  readonly customer: CustomerRow;
};

const COLUMNS = columnsOf(Shipment, "workspace", "customer", "quoted");

/**
 * What to select for `shipmentRow`, from `shipment as s` of the workspace `$1`: a JSON array in one
 * column. pg takes as long to describe and parse 32 columns as all the rest of a look-up takes. The
 * customer is looked up for each shipment, and null where the statement does not see it.
 */
export const SHIPMENT_COLUMN = `json_build_array(
  ${COLUMNS.map(({ name, isTime }) => (isTime ? `date_part('epoch', s.${name})` : `s.${name}`)).join(", ")},
  (select ${customerJson("customer")} from customer
   where customer.workspace_id = $1 and customer.id = s.customer_id))::text as shipment`;

/** The row of what was selected as `SHIPMENT_COLUMN`. */
export function shipmentRow(column: string): ShipmentRow {
  return rowOf(JSON.parse(column) as unknown[], toDate);
}

/**
 * An object literal, compiled from the columns: a loop that sets one property after the other takes 1 µs
 * longer for each row, 5 % of what a list of 25 costs.
 */
// oxlint-disable-next-line typescript/no-implied-eval -- of names of columns alone
const rowOf = new Function(
  "values",
  "toDate",
  `return {
    ${COLUMNS.map(({ property, isTime }, i) => `${property}: ${isTime ? `toDate(values[${i}])` : `values[${i}]`}`).join(", ")},
    customer: values[${COLUMNS.length}],
  }`,
) as (values: readonly unknown[], toTime: typeof toDate) => ShipmentRow;

/** Of seconds as PostgreSQL gives them; times are stored in whole milliseconds. */
function toDate(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(Math.round(seconds * 1_000));
}
