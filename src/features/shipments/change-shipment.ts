import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { createGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { transition, type Trigger } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { createRejectIfInFlight } from "../idempotency/reject-if-in-flight.ts";
import { withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import { shipmentNotFoundError } from "./find-shipment.ts";
import { lockShipments } from "./lock-shipments.ts";
import { shipmentEvents } from "./shipment-events.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { writeShipments, type ChangedShipment } from "./write-shipments.ts";

/** A change of one shipment that a call asks for. */
export interface ShipmentChange<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]> & { readonly shipment: string };
  readonly call: Call;
  /**
   * Works out the shipment as the change leaves it, or gives the row back when nothing changes. May
   * write entities of its own with the unit of work, once nothing can refuse the change any more.
   *
   * @throws Refusal when the change is not possible
   */
  readonly change: (row: ShipmentRow, tx: EntityManager) => ShipmentRow | Promise<ShipmentRow>;
  readonly respond: (row: ShipmentRow) => MessageShape<M["output"]>;
}

/**
 * Changes a shipment, and resolves once that is committed together with its events. Changes that
 * arrive at the same time share a transaction; changes of one shipment follow each other.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, and what `change` throws
 */
export type ChangeShipment = <M extends DescMethodUnary>(
  change: ShipmentChange<M>,
) => Promise<MessageShape<M["output"]>>;

/** How many changes one transaction makes at most. */
const MAX_GROUP = 64;

/**
 * Builds the group commit of all changes of shipments.
 *
 * @param announce is told of a workspace whose change is committed
 */
export function createChangeShipment(
  em: EntityManager,
  announce: (workspace: number) => void,
): ChangeShipment {
  const rejectIfInFlight = createRejectIfInFlight();
  const write = createGroup({
    em,
    maxMembers: MAX_GROUP,
    serializeBy: ({ call, request }: ShipmentChange) =>
      `${call.caller.workspaceId} ${request.shipment}`,
    deadlineMs: ({ call }) => call.deadlineMs ?? Infinity,
    work: (tx, changes) => withIdempotencyEach(tx, changes, (toRun) => makeChanges(tx, toRun)),
  });
  return (async (change: ShipmentChange) => {
    const response = await rejectIfInFlight(change.call, () => write(change));
    announce(keyOf(change).workspace);
    return response;
  }) as ChangeShipment;
}

type Response = MessageShape<DescMethodUnary["output"]>;

/** Makes changes of different shipments in one transaction; one that is refused is left out. */
async function makeChanges(
  tx: EntityManager,
  changes: readonly ShipmentChange[],
): Promise<Outcome<Response>[]> {
  const rows = await lockShipments(tx, changes.map(keyOf));
  const changed: ChangedShipment[] = [];
  const outcomes: Outcome<Response>[] = [];
  for (const [i, change] of changes.entries()) {
    try {
      const before = rows[i];
      if (before === undefined) throw shipmentNotFoundError();
      const after = await change.change(before, tx);
      const made = after === before ? undefined : record(keyOf(change).workspace, before, after);
      if (made !== undefined) changed.push(made);
      outcomes.push({ result: change.respond(made?.row ?? before) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcomes.push({ refused: error });
    }
  }
  await writeShipments(tx, changed);
  return outcomes;
}

function keyOf({ call, request }: ShipmentChange) {
  return { workspace: call.caller.workspaceId, reference: request.shipment };
}

/** Counts a change in the row's version, and in its events. */
function record(workspace: number, before: ShipmentRow, after: ShipmentRow): ChangedShipment {
  const counted = { ...after, version: before.version + 1 };
  return { workspace, ...shipmentEvents(workspace, before, counted) };
}

/**
 * A shipment as a trigger leaves it.
 *
 * @throws Refusal SHIPMENT_STATE when its state does not allow the trigger
 */
export function applyTrigger(row: ShipmentRow, trigger: Trigger, at: Date): ShipmentRow {
  const { next, refusal } = transition(trigger, row);
  if (next === undefined) throw refuse("SHIPMENT_STATE", refusal, { subject: "shipment" });
  return { ...row, ...next, updatedAtMs: at.getTime() };
}
