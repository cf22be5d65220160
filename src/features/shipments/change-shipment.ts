import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-commit.ts";
import { byOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { Transaction } from "../../db/transaction.ts";
import { Refusal, refuse, type Violation } from "../../domain/refusal.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import { transition, type Trigger } from "../../domain/shipment/shipment-state.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import {
  type FindShipment,
  type LockedShipment,
  lockShipments,
  shipmentNotFoundError,
} from "./find-shipment.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import {
  type ChangedShipment,
  insertEventsOf,
  shipmentEvents,
  updateShipments,
} from "./write-shipments.ts";
import type { QuoteShipmentRequest } from "../../../gen/shipments/v1/quote_pb.js";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";

/** A change of one shipment that a call asks for. */
export interface ShipmentChange<M extends DescMethodUnary = DescMethodUnary, Facts = unknown> {
  readonly method: M;
  readonly request: MessageShape<M["input"]> & { readonly shipment: string };
  readonly call: Call;
  /** Loads what the change depends on besides the shipment. Sent along with the lock on that. */
  load?(tx: Transaction): Promise<Facts>;
  /**
   * Works out the shipment as the change leaves it, or gives the row back when nothing changes.
   *
   * @throws Refusal when the change is not possible
   */
  change(row: ShipmentRow, facts: Facts): ShipmentRow | Promise<ShipmentRow>;
  /** Sends what is to be written besides the shipment, once `change` has changed it. */
  readonly write?: (tx: Transaction) => void;
  readonly respond: (row: ShipmentRow) => MessageShape<M["output"]>;
}

/**
 * Changes a shipment, and resolves once that is committed together with its events. Changes that
 * arrive at the same time share a transaction; changes of one shipment follow each other.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, and what `change` throws
 */
export type ChangeShipment = <M extends DescMethodUnary, Facts = undefined>(
  change: ShipmentChange<M, Facts>,
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
    workspaceOf,
    serializeBy: shipmentOf,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, changes: readonly ShipmentChange[]) =>
      withIdempotencyEach(tx, changes, {
        load: (all) => lockAndLoad(tx, all),
        run: (toRun, loaded) => makeChanges(tx, toRun, loaded, written),
      }),
  });
  return (async (change: ShipmentChange) => {
    if (!isReference(change.request.shipment)) throw shipmentNotFoundError();
    const response = await rejectIfInFlight(change.call, () => commitInGroup(change));
    if (written.has(change)) announce(change.call.caller.workspaceId);
    return response;
  }) as ChangeShipment;
}

const workspaceOf = ({ call }: ShipmentChange) => call.caller.workspaceId;

/** Two changes in one transaction would start from the same row, and one would be lost. */
function shipmentOf({ call, request }: ShipmentChange): string {
  return `${call.caller.workspaceId} ${request.shipment}`;
}

type Response = MessageShape<DescMethodUnary["output"]>;

/** What a change depends on. */
interface Loaded {
  /** Undefined when there is no such shipment. */
  readonly locked: LockedShipment | undefined;
  readonly facts: unknown;
}

/** Locks the shipments of changes, and loads what else they depend on, in one round trip. */
async function lockAndLoad(tx: Transaction, changes: readonly ShipmentChange[]): Promise<Loaded[]> {
  const [shipments, facts] = await Promise.all([
    lockShipments(tx, changes.map(keyOf)),
    Promise.all(changes.map(async ({ load }) => load?.(tx))),
  ]);
  return shipments.map((locked, i) => ({ locked, facts: facts[i] }));
}

/**
 * Makes changes of different shipments in one transaction; one that is refused is left out.
 *
 * @param written is given the changes that wrote something
 */
async function makeChanges(
  tx: Transaction,
  changes: readonly ShipmentChange[],
  loaded: readonly Loaded[],
  written: WeakSet<ShipmentChange>,
): Promise<Outcome<Response>[]> {
  const made: MadeChange[] = [];
  const outcomes: Outcome<Response>[] = [];
  for (const [i, by] of changes.entries()) {
    try {
      const { locked, facts } = loaded[i]!;
      if (locked === undefined) throw shipmentNotFoundError();
      const { row: before, subscribers } = locked;
      const after = await by.change(before, facts);
      const changed = after === before ? undefined : record(by.call, before, after);
      if (changed !== undefined) made.push({ ...changed, by, subscribers });
      outcomes.push({ result: by.respond(changed?.row ?? before) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcomes.push({ refused: error });
    }
  }
  for (const { by } of made) {
    by.write?.(tx);
    written.add(by);
  }
  const owned = byOwner(made, ({ by }) => workspaceOf(by));
  for (const [workspace, own] of owned) updateShipments(tx, workspace, own);
  for (const [workspace, own] of owned) insertEventsOf(tx, workspace, own, own[0]!.subscribers);
  return outcomes;
}

/** A change that is to be written. */
interface MadeChange extends ChangedShipment, Pick<LockedShipment, "subscribers"> {
  readonly by: ShipmentChange;
}

function keyOf(change: ShipmentChange) {
  return { workspace: workspaceOf(change), reference: change.request.shipment };
}

/** Counts a change in the row's version, and in its events. */
function record(call: Call, before: ShipmentRow, after: ShipmentRow): ChangedShipment {
  const counted = { ...after, version: before.version + 1 };
  return shipmentEvents(before, counted, call);
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
