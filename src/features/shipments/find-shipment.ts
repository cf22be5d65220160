import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import {
  CUSTOMER_OF_SHIPMENT,
  SHIPMENT_COLUMN,
  shipmentRow,
  type ShipmentRow,
} from "./shipment-row.ts";

/** What a shipment is found by. */
export interface ShipmentKey {
  readonly workspace: number;
  readonly reference: string;
}

/**
 * Finds a shipment of a workspace with its customer.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, alike for an unknown shipment and one of another workspace
 */
export type FindShipment = (key: ShipmentKey) => Promise<ShipmentRow>;

/** Builds the look-up; shipments that are asked for at the same time share a statement. */
export function createFindShipment(em: EntityManager, observeGroups: ObserveGroups): FindShipment {
  const find = batchReads(
    (keys: readonly ShipmentKey[]) => readShipments(em, keys),
    observeGroups("shipment_reads"),
  );
  return async (key) => {
    if (!isReference(key.reference)) throw shipmentNotFoundError();
    const found = await find(key);
    if (found === undefined) throw shipmentNotFoundError();
    return found;
  };
}

/** The refusal of a reference that is not one of the workspace's shipments. */
export function shipmentNotFoundError(): Refusal {
  return refuse("SHIPMENT_NOT_FOUND", "There is no such shipment.");
}

/**
 * Keys travel as JSON: PostgreSQL looks into arrays to guess how many rows they make, and plans the
 * statement anew each time. The lateral join makes each of them an index look-up.
 */
const FIND = `
  select asked.place, found.*
  from json_to_recordset($1) as asked (place int, workspace bigint, reference text)
  cross join lateral (
    select ${SHIPMENT_COLUMN}
    from shipment s join ${CUSTOMER_OF_SHIPMENT}
    where s.workspace_id = asked.workspace and s.reference = asked.reference
    limit 1
  ) as found`;

interface Found {
  readonly place: number;
  readonly shipment: string;
}

async function readShipments(
  em: EntityManager,
  keys: readonly ShipmentKey[],
): Promise<(ShipmentRow | undefined)[]> {
  const asked = keys.map(({ workspace, reference }, place) => ({ place, workspace, reference }));
  const found = Array.from<ShipmentRow | undefined>({ length: keys.length });
  const rows = await runStatement<Found>(em, FIND, [JSON.stringify(asked)]);
  for (const { place, shipment } of rows) found[place] = shipmentRow(shipment);
  return found;
}
