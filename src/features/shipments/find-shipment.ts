import { batchReads } from "../../db/batch-reads.ts";
import type { ObserveGroups } from "../../db/group-queue.ts";
import { loadByOwner } from "../../db/by-owner.ts";
import type { Place } from "../../db/nodes.ts";
import type { EntityManager } from "../../db/orm.ts";
import { inBatches, type Transaction } from "../../db/transaction.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { EXAMPLE_REFERENCE, isReference } from "../../domain/shipment/shipment-reference.ts";
import { type Subscriber, SUBSCRIBERS } from "../events/insert-events.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import { SHIPMENT_COLUMN, shipmentRows, type ShipmentRow } from "./shipment-row.ts";

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

/** Builds the look-up; shipments that are asked for at the same time are read together. */
export function createFindShipment(
  em: EntityManager,
  observeGroups: ObserveGroups,
  versionFees: VersionFees,
): FindShipment {
  const find = batchReads(
    em,
    async (keys: readonly ShipmentKey[], place) =>
      shipmentRows(await loadShipments(em, keys, place), versionFees),
    observeGroups("shipment_reads"),
  );
  return async (key) => {
    const found = isReference(key.reference) ? await find(key) : undefined;
    if (found === undefined) throw shipmentNotFoundError(key.reference);
    return found;
  };
}

/** The refusal of a reference, the same for an unknown shipment and for one of another workspace. */
export function shipmentNotFoundError(reference: string): Refusal {
  const form = isReference(reference) ? "" : ` A reference looks like ${EXAMPLE_REFERENCE}.`;
  return refuse("SHIPMENT_NOT_FOUND", `There is no such shipment.${form}`);
}

interface LookUp {
  readonly one: string;
  readonly several: string;
}

/**
 * Several references travel as JSON: PostgreSQL looks into arrays to guess how many rows they make, and
 * plans the statement anew each time. The lateral join makes each of them an index look-up. One that is
 * alone is looked for without, in two thirds of the time.
 */
const FIND: LookUp = {
  one: `
  select 0 as place, ${SHIPMENT_COLUMN}
  from shipment as s where s.workspace_id = $1 and s.reference = $2`,
  several: `
  select asked.place, found.shipment
  from json_to_recordset($2) as asked (place int, reference text)
  cross join lateral (
    select ${SHIPMENT_COLUMN}
    from shipment as s where s.workspace_id = $1 and s.reference = asked.reference limit 1
  ) as found`,
};

interface Found {
  readonly place: number;
  readonly shipment: string;
}

/**
 * Looks for shipments of a workspace.
 *
 * @param lookUp as `FIND`; `place` is that of a reference among the keys
 * @returns for each key what was found, undefined when there is no such shipment
 */
async function findAll<Placed extends { readonly place: number }>(
  send: Transaction["send"],
  { one, several }: LookUp,
  workspace: number,
  keys: readonly ShipmentKey[],
): Promise<(Placed | undefined)[]> {
  const found =
    keys.length === 1
      ? await send<Placed>(one, [workspace, keys[0]!.reference])
      : await send<Placed>(several, [workspace, askedJson(keys)]);
  const byPlace = new Map(found.map((each) => [each.place, each]));
  return keys.map((_, place) => byPlace.get(place));
}

/** `SHIPMENT_COLUMN` in the order of the keys; undefined for a shipment that there is not. */
function loadShipments(
  em: EntityManager,
  keys: readonly ShipmentKey[],
  place: Place,
): Promise<(string | undefined)[]> {
  const load = (send: Transaction["send"]) =>
    loadByOwner(keys, workspaceOf, async (workspace, own) => {
      const found = await findAll<Found>(send, FIND, workspace, own);
      return found.map((each) => each?.shipment);
    });
  return inBatches(em, load, { place, workspaces: keys.map(workspaceOf) });
}

const workspaceOf = ({ workspace }: ShipmentKey) => workspace;

/** Sorted, so that transactions that lock do not wait for each other in a circle. */
function askedJson(keys: readonly ShipmentKey[]): string {
  const asked = keys.map(({ reference }, place) => ({ place, reference }));
  return JSON.stringify(asked.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)));
}

/**
 * The lock comes before the look at the customer, which may change while the lock is waited for: of one
 * shipment, PostgreSQL evaluates all of it again when it has waited for a change.
 */
const LOCK: LookUp = {
  one: `
  select 0 as place, ${SHIPMENT_COLUMN}, ${SUBSCRIBERS} as subscribers
  from shipment as s where s.workspace_id = $1 and s.reference = $2 for update`,
  several: `
  select s.place, ${SHIPMENT_COLUMN}, ${SUBSCRIBERS} as subscribers
  from json_to_recordset($2) as asked (place int, reference text)
  cross join lateral (
    select asked.place, shipment.* from shipment
    where shipment.workspace_id = $1 and shipment.reference = asked.reference
    limit 1 for update
  ) as s`,
};

export interface LockedShipment {
  readonly row: ShipmentRow;
  /** The enabled webhooks of its workspace; null when there is none. */
  readonly subscribers: readonly Subscriber[] | null;
}

/**
 * Locks shipments until the transaction ends, and loads them as the change before left them.
 *
 * @returns for each key its shipment, undefined when the workspace has none by that reference
 */
export function lockShipments(
  tx: Transaction,
  keys: readonly ShipmentKey[],
  versionFees: VersionFees,
): Promise<(LockedShipment | undefined)[]> {
  return loadByOwner(keys, workspaceOf, async (workspace, own) => {
    const lock = () => lockOwn(tx, workspace, own, versionFees);
    const locked = await lock();
    // A customer that a shipment was linked to while its lock was waited for is not seen yet.
    return locked.some((each) => each?.row.customer === null) ? lock() : locked;
  });
}

type FoundLocked = Found & Pick<LockedShipment, "subscribers">;

async function lockOwn(
  tx: Transaction,
  workspace: number,
  keys: readonly ShipmentKey[],
  versionFees: VersionFees,
): Promise<(LockedShipment | undefined)[]> {
  const found = await findAll<FoundLocked>(tx.send, LOCK, workspace, keys);
  const rows = await shipmentRows(
    found.map((each) => each?.shipment),
    versionFees,
  );
  return rows.map((row, i) => row && { row, subscribers: found[i]!.subscribers });
}
