import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import { loadByOwner } from "../../db/by-owner.ts";
import type { WorkspaceNode } from "../../db/servers.ts";
import type { EntityManager } from "../../db/orm.ts";
import { inBatches, type Transaction } from "../../db/transaction.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { EXAMPLE_REFERENCE, isReference } from "../../domain/shipment/shipment-reference.ts";
import { type Subscriber, SUBSCRIBERS } from "../events/insert-events.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import { SHIPMENT_COLUMN, shipmentRows, type ShipmentRow } from "./shipment-row.ts";

export interface ShipmentKey {
  readonly workspace: number;
  readonly reference: string;
}

/**
 * Finds a shipment of a workspace with its customer.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, which is the same for missing shipments and shipments of other workspaces
 */
export type FindShipment = (key: ShipmentKey) => Promise<ShipmentRow>;

/** Creates the lookup. Concurrent lookups share a statement. */
export function createFindShipment(
  em: EntityManager,
  observeGroups: ObserveGroups,
  versionFees: VersionFees,
): FindShipment {
  const find = batchReads(
    em,
    async (keys: readonly ShipmentKey[], node) => shipmentRows(await loadShipments(em, keys, node), versionFees),
    observeGroups("shipment_reads"),
  );
  return async (key) => {
    const found = isReference(key.reference) ? await find(key) : undefined;
    if (found === undefined) throw shipmentNotFoundError(key.reference);
    return found;
  };
}

/** Returns the refusal for a reference. It is the same for missing shipments and shipments of other workspaces. */
export function shipmentNotFoundError(reference: string): Refusal {
  const form = isReference(reference) ? "" : ` A reference looks like ${EXAMPLE_REFERENCE}.`;
  return refuse("SHIPMENT_NOT_FOUND", `Shipment not found.${form}`);
}

/** Whether a caller may access a shipment. A courier who opened a link may access only the assigned ones. */
export function mayAccess({ courier }: Pick<WorkspaceCaller, "courier">, { progress }: ShipmentRow): boolean {
  return courier === undefined || progress?.courier?.courierId === courier.id;
}

interface Lookup {
  readonly one: string;
  readonly several: string;
}

/**
 * Finds one or several shipments. Several references are passed as JSON, because PostgreSQL would create a new plan for
 * each array. With the lateral join, each reference is an index lookup. A single reference has its own statement, which
 * takes a third less time.
 */
const FIND: Lookup = {
  one: `
  select 0 as index, ${SHIPMENT_COLUMN}
  from shipment as s where s.workspace_id = $1 and s.reference = $2`,
  several: `
  select asked.index, found.shipment
  from json_to_recordset($2) as asked (index int, reference text)
  cross join lateral (
    select ${SHIPMENT_COLUMN}
    from shipment as s where s.workspace_id = $1 and s.reference = asked.reference limit 1
  ) as found`,
};

interface Found {
  readonly index: number;
  readonly shipment: string;
}

/**
 * Looks up shipments of a workspace.
 *
 * @param lookup statements such as `FIND`, whose rows contain the index of the key
 * @returns the row for each key, `undefined` if the shipment does not exist
 */
async function findAll<Indexed extends { readonly index: number }>(
  send: Transaction["send"],
  { one, several }: Lookup,
  workspace: number,
  keys: readonly ShipmentKey[],
): Promise<(Indexed | undefined)[]> {
  const found =
    keys.length === 1
      ? await send<Indexed>(one, [workspace, keys[0]!.reference])
      : await send<Indexed>(several, [workspace, keysJson(keys)]);
  const byIndex = new Map(found.map((each) => [each.index, each]));
  return keys.map((_, index) => byIndex.get(index));
}

/** Loads `SHIPMENT_COLUMN` for each key, in order. `undefined` for missing shipments. */
function loadShipments(
  em: EntityManager,
  keys: readonly ShipmentKey[],
  node: WorkspaceNode,
): Promise<(string | undefined)[]> {
  const load = (send: Transaction["send"]) =>
    loadByOwner(keys, workspaceOf, async (workspace, own) => {
      const found = await findAll<Found>(send, FIND, workspace, own);
      return found.map((each) => each?.shipment);
    });
  return inBatches(em, load, { node, workspaces: keys.map(workspaceOf) });
}

const workspaceOf = ({ workspace }: ShipmentKey) => workspace;

/** Returns the references as JSON, sorted so that concurrent transactions do not deadlock. */
function keysJson(keys: readonly ShipmentKey[]): string {
  const references = keys.map(({ reference }, index) => ({ index, reference }));
  return JSON.stringify(references.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)));
}

/**
 * Locks shipments before reading their customers, which can change while the statement waits for
 * the lock. After the wait, PostgreSQL evaluates the whole row again.
 */
const LOCK: Lookup = {
  one: `
  select 0 as index, ${SHIPMENT_COLUMN}, ${SUBSCRIBERS} as subscribers
  from shipment as s where s.workspace_id = $1 and s.reference = $2 for update`,
  several: `
  select s.index, ${SHIPMENT_COLUMN}, ${SUBSCRIBERS} as subscribers
  from json_to_recordset($2) as asked (index int, reference text)
  cross join lateral (
    select asked.index, shipment.* from shipment
    where shipment.workspace_id = $1 and shipment.reference = asked.reference
    limit 1 for update
  ) as s`,
};

export interface LockedShipment {
  readonly row: ShipmentRow;
  /** Enabled webhooks of the workspace. null if there are none. */
  readonly subscribers: readonly Subscriber[] | null;
}

/**
 * Locks shipments until the end of the transaction and loads their current state.
 *
 * @returns the shipment for each key, `undefined` if the workspace has no such shipment
 */
export function lockShipments(
  tx: Transaction,
  keys: readonly ShipmentKey[],
  versionFees: VersionFees,
): Promise<(LockedShipment | undefined)[]> {
  return loadByOwner(keys, workspaceOf, async (workspace, own) => {
    const lock = () => lockOwn(tx, workspace, own, versionFees);
    const locked = await lock();
    // A customer that was linked during the wait is not visible to this statement, so the row is selected again.
    return locked.some((each) => each?.row.customer === null) ? lock() : locked;
  });
}

type LockedKey = Found & Pick<LockedShipment, "subscribers">;

async function lockOwn(
  tx: Transaction,
  workspace: number,
  keys: readonly ShipmentKey[],
  versionFees: VersionFees,
): Promise<(LockedShipment | undefined)[]> {
  const found = await findAll<LockedKey>(tx.send, LOCK, workspace, keys);
  const rows = await shipmentRows(
    found.map((each) => each?.shipment),
    versionFees,
  );
  return rows.map((row, i) => row && { row, subscribers: found[i]!.subscribers });
}
