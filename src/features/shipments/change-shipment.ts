import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Refusal, refuse, type Violation } from "../../domain/refusal.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { transition, type Trigger } from "../../domain/shipment/shipment-state.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { lockShipments, shipmentNotFoundError, type FindShipment } from "./find-shipment.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { type ChangedShipment, shipmentEvents, updateShipments } from "./write-shipments.ts";
import type { QuoteShipmentRequest } from "../../../gen/shipments/v1/quote_pb.js";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";

/** A change of one shipment that a call asks for. */
export interface ShipmentChange<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]> & { readonly shipment: string };
  readonly call: Call;
  /**
   * Works out the shipment as the change leaves it, or gives the row back when nothing changes. May
   * change entities of its own in the unit of work, once nothing can refuse the change any more.
   *
   * @throws Refusal when the change is not possible
   */
  readonly change: (row: ShipmentRow, tx: EntityManager) => ShipmentRow | Promise<ShipmentRow>;
  /**
   * Writes what is new besides the shipment, once `change` has changed it. Sent with it, without
   * waiting for the answer to it.
   */
  readonly insert?: (tx: EntityManager) => Promise<void>;
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
 * @param announce is called with a workspace once a change in it is committed
 */
export function createChangeShipment(
  createGroup: CreateGroup,
  announce: (workspace: number) => void,
): ChangeShipment {
  const rejectIfInFlight = createRejectIfInFlight();
  const written = new WeakSet<ShipmentChange>();
  const commitInGroup = createGroup({
    name: "changes",
    maxMembers: MAX_GROUP,
    serializeBy: shipmentOf,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, changes: readonly ShipmentChange[]) =>
      withIdempotencyEach(tx, changes, (toRun) => makeChanges(tx, toRun, written)),
  });
  return (async (change: ShipmentChange) => {
    if (!isReference(change.request.shipment)) throw shipmentNotFoundError();
    const response = await rejectIfInFlight(change.call, () => commitInGroup(change));
    if (written.has(change)) announce(change.call.caller.workspaceId);
    return response;
  }) as ChangeShipment;
}

/** Two changes in one transaction would start from the same row, and one would be lost. */
function shipmentOf({ call, request }: ShipmentChange): string {
  return `${call.caller.workspaceId} ${request.shipment}`;
}

type Response = MessageShape<DescMethodUnary["output"]>;

/**
 * Makes changes of different shipments in one transaction; one that is refused is left out.
 *
 * @param written is given the changes that wrote something
 */
async function makeChanges(
  tx: EntityManager,
  changes: readonly ShipmentChange[],
  written: WeakSet<ShipmentChange>,
): Promise<Outcome<Response>[]> {
  const rows = await lockShipments(tx, changes.map(keyOf));
  const changed: ChangedShipment[] = [];
  const inserts: NonNullable<ShipmentChange["insert"]>[] = [];
  const outcomes: Outcome<Response>[] = [];
  for (const [i, change] of changes.entries()) {
    try {
      const before = rows[i];
      if (before === undefined) throw shipmentNotFoundError();
      const after = await change.change(before, tx);
      const made = after === before ? undefined : record(change.call, before, after);
      if (made !== undefined) {
        changed.push(made);
        if (change.insert !== undefined) inserts.push(change.insert);
        written.add(change);
      }
      outcomes.push({ result: change.respond(made?.row ?? before) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcomes.push({ refused: error });
    }
  }
  await Promise.all([updateShipments(tx, changed), ...inserts.map((insert) => insert(tx))]);
  return outcomes;
}

function keyOf({ call, request }: ShipmentChange) {
  return { workspace: call.caller.workspaceId, reference: request.shipment };
}

/** Counts a change in the row's version, and in its events. */
function record(call: Call, before: ShipmentRow, after: ShipmentRow): ChangedShipment {
  const counted = { ...after, version: before.version + 1 };
  return { workspace: call.caller.workspaceId, ...shipmentEvents(before, counted, call) };
}

/**
 * A shipment as a trigger leaves it.
 *
 * @throws Refusal SHIPMENT_STATE when its state does not allow the trigger
 */
export function applyTrigger(row: ShipmentRow, trigger: Trigger, at: Date): ShipmentRow {
  const { next, refusal } = transition(trigger, row);
  if (next === undefined) throw refuse("SHIPMENT_STATE", refusal, { subject: "shipment" });
  return { ...row, ...next, updatedAt: at };
}

/** What the functions of the shipment service need. */
export interface ShipmentDeps {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly findShipment: FindShipment;
  readonly changeShipment: ChangeShipment;
  readonly tariffs: TariffCache;
  readonly now: () => Date;
  /**
   * Validates one route of a batch by the rules of its descriptor.
   *
   * @param violations the errors of decoding it, which are reported along with those of validating it
   *
   * @throws Refusal FIELD_INVALID
   */
  readonly validateQuote: (route: QuoteShipmentRequest, violations: readonly Violation[]) => void;
}
