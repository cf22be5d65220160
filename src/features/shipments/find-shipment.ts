import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
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
    (keys: readonly ShipmentKey[]) => loadShipments(em, keys),
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
  return refuse("SHIPMENT_NOT_FOUND");
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

/** In the order of the keys; undefined for a shipment that there is not. */
async function loadShipments(
  em: EntityManager,
  keys: readonly ShipmentKey[],
): Promise<(ShipmentRow | undefined)[]> {
  return inOrder(keys, await select(em, FIND, keys));
}

interface Found {
  readonly place: number;
  readonly shipment: string;
  /** Whether it was linked, while its lock was waited for, to a customer not seen yet. */
  readonly stale?: boolean;
}

function select(em: EntityManager, sql: string, keys: readonly ShipmentKey[]): Promise<Found[]> {
  const asked = keys.map(({ workspace, reference }, place) => ({ place, workspace, reference }));
  return runStatement(em, sql, [JSON.stringify(asked)]);
}

function inOrder(keys: readonly ShipmentKey[], found: readonly Found[]) {
  const rows = Array.from<ShipmentRow | undefined>({ length: keys.length });
  for (const { place, shipment } of found) rows[place] = shipmentRow(shipment);
  return rows;
}

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

/**
 * Locks shipments until the transaction ends, and loads them as the change before left them.
 *
 * @returns for each key its shipment, undefined when the workspace has none by that reference
 */
export async function lockShipments(
  tx: EntityManager,
  keys: readonly ShipmentKey[],
): Promise<(ShipmentRow | undefined)[]> {
  const found = await select(tx, LOCK, keys);
  const isStale = found.some(({ stale }) => stale);
  return inOrder(keys, isStale ? await select(tx, LOCK, keys) : found);
}
