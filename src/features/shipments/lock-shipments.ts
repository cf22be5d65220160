import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import {
  CUSTOMER_OF_SHIPMENT,
  SHIPMENT_COLUMN,
  shipmentRow,
  type ShipmentRow,
} from "./shipment-row.ts";

/**
 * Locked in one order, so that transactions do not wait for each other in a circle. The lock comes
 * first and the join after it: a plain join would lose a shipment whose customer changed while the
 * lock was waited for.
 */
const LOCK = `
  with asked as materialized (
    select * from json_to_recordset($1) as keys (place int, workspace bigint, reference text)
    order by workspace, reference
  ), s as materialized (
    select asked.place, found.* from asked cross join lateral (
      select * from shipment
      where workspace_id = asked.workspace and reference = asked.reference
      limit 1 for update
    ) as found
  )
  select s.place, c.id is null as stale, ${SHIPMENT_COLUMN}
  from s left join ${CUSTOMER_OF_SHIPMENT}`;

interface Locked {
  readonly place: number;
  readonly stale: boolean;
  readonly shipment: string;
}

/**
 * Locks shipments until the transaction ends, and reads them as the change before left them.
 *
 * @returns for each key its shipment, undefined when the workspace has none by that reference
 */
export async function lockShipments(
  tx: EntityManager,
  keys: readonly ShipmentKey[],
): Promise<(ShipmentRow | undefined)[]> {
  const asked = keys.map(({ workspace, reference }, place) => ({ place, workspace, reference }));
  const read = () => runStatement<Locked>(tx, LOCK, [JSON.stringify(asked)]);
  let rows = await read();
  // Linked, while the lock was waited for, to a customer that the statement does not see yet.
  if (rows.some(({ stale }) => stale)) rows = await read();
  const found = Array.from<ShipmentRow | undefined>({ length: keys.length });
  for (const { place, shipment } of rows) found[place] = shipmentRow(shipment);
  return found;
}
