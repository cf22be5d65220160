import { columnsOf, type Row } from "../../db/columns.ts";
import { customerJson, type CustomerRow } from "../customers/customer-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** A shipment with its customer, as stored. Amounts are in minor units of the currency. */
export type ShipmentRow = Row<Shipment, "workspace" | "customer" | "quoted"> & {
  readonly customer: CustomerRow;
};

const COLUMNS = columnsOf(Shipment, "workspace", "customer", "quoted");

/**
 * What to select for `shipmentRow`, from `shipment as s` and its `customer as c`: a JSON array in one
 * column. pg takes as long to describe and parse 32 columns as all the rest of a look-up takes.
 */
export const SHIPMENT_COLUMN = `json_build_array(
  ${COLUMNS.map(({ name, isTime }) => (isTime ? `date_part('epoch', s.${name})` : `s.${name}`)).join(", ")},
  ${customerJson("c")})::text as shipment`;

/** Joins a shipment to its customer, which is looked up for each shipment. */
export const CUSTOMER_OF_SHIPMENT = `lateral (
    select * from customer
    where customer.workspace_id = s.workspace_id and customer.id = s.customer_id limit 1
  ) as c on true`;

/** Copied for each row: as properties are added to an object one by one, V8 makes it a slow one. */
const BLANK: Readonly<Record<string, unknown>> = JSON.parse(
  JSON.stringify(
    Object.fromEntries(
      [...COLUMNS, { property: "customer" }].map(({ property }) => [property, null]),
    ),
  ),
);

/** The row of what was selected as `SHIPMENT_COLUMN`. */
export function shipmentRow(column: string): ShipmentRow {
  const values = JSON.parse(column) as unknown[];
  const row = { ...BLANK };
  COLUMNS.forEach(({ property, isTime }, i) => {
    row[property] = isTime ? toDate(values[i] as number | null) : values[i];
  });
  row["customer"] = values[COLUMNS.length];
  return row as unknown as ShipmentRow;
}

/** Of seconds as PostgreSQL gives them; times are stored in whole milliseconds. */
function toDate(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(Math.round(seconds * 1_000));
}
