import { columnsOf, type Row } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Fees } from "../../domain/pricing/tariff.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import { customerJson, type CustomerRow } from "../customers/customer.entity.ts";
import { Shipment } from "./shipment.entity.ts";

/** A stored shipment with its customer. Amounts are in minor units of the currency. */
export type ShipmentRow = Row<Shipment, "workspace" | "customer" | "quoted"> & {
  readonly customer: CustomerRow;
  readonly fees: Fees;
};

const COLUMNS = columnsOf(Shipment, "workspace", "customer", "quoted");
const TARIFF = COLUMNS.findIndex(({ property }) => property === "tariff");

/**
 * SQL that selects a row for `shipmentRows` from `shipment as s` in workspace `$1`. The row is a JSON array in one
 * column, because pg needs as much time to parse 32 columns as for everything else in a lookup. The customer is a
 * subquery, null if the statement cannot see it.
 */
export const SHIPMENT_COLUMN = `json_build_array(
  ${COLUMNS.map(({ name, isTime }) => (isTime ? `date_part('epoch', s.${name})` : `s.${name}`)).join(", ")},
  (select ${customerJson("customer")} from customer
   where customer.workspace_id = $1 and customer.id = s.customer_id))::text as shipment`;

/**
 * Converts `SHIPMENT_COLUMN` values to rows, in order. Keeps `undefined`.
 *
 * @param versionFees loads the fees of the tariff versions
 */
export async function shipmentRows<Column extends string | undefined>(
  columns: readonly Column[],
  versionFees: VersionFees,
): Promise<(ShipmentRow | Extract<Column, undefined>)[]> {
  const all = columns.map((column) => column && (JSON.parse(column) as unknown[]));
  const versions = all.flatMap((values) => (values ? [values[TARIFF] as number] : []));
  const fees = await versionFees.of(versions);
  return all.map((values) => (values ? rowOf(values, toDate, fees.get(values[TARIFF] as number)!) : undefined)) as (
    | ShipmentRow
    | Extract<Column, undefined>
  )[];
}

/** Runs a statement that selects `SHIPMENT_COLUMN` and returns its rows. */
export async function selectShipments(
  { em, versionFees }: { readonly em: EntityManager; readonly versionFees: VersionFees },
  sql: string,
  values: readonly unknown[],
): Promise<ShipmentRow[]> {
  const selected = await runStatement<{ shipment: string }>(em, sql, values);
  return shipmentRows(
    selected.map(({ shipment }) => shipment),
    versionFees,
  );
}

/** A compiled object literal, because setting properties in a loop takes 1 µs longer per row, 5 % for a list of 25. */
// oxlint-disable-next-line typescript/no-implied-eval -- the source contains only column names
const rowOf = new Function(
  "values",
  "toDate",
  "fees",
  `return {
    ${COLUMNS.map(({ property, isTime }, i) => `${property}: ${isTime ? `toDate(values[${i}])` : `values[${i}]`}`).join(", ")},
    customer: values[${COLUMNS.length}],
    fees,
  }`,
) as (values: readonly unknown[], toTime: typeof toDate, fees: Fees) => ShipmentRow;

/** Converts seconds to a time. PostgreSQL stores whole milliseconds, so rounding is exact. */
function toDate(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(Math.round(seconds * 1_000));
}
