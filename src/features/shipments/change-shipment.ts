import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { CreateGroup, GroupOptions, Outcome } from "../../db/group-commit.ts";
import { byOwner } from "../../db/by-owner.ts";
import type { Transaction } from "../../db/transaction.ts";
import { toInstantMs } from "../../domain/instant.ts";
import { invalidField, Refusal, refuse } from "../../domain/refusal.ts";
import { progressFrom } from "../../domain/shipment/delivery-progress.ts";
import { isVerified } from "../../domain/shipment/delivery-proof.ts";
import { shipmentEventTypes } from "../../domain/shipment/event-type.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import {
  type ShipmentState,
  type ShipmentStatus,
  stateError,
  statusText,
  transition,
  type Trigger,
} from "../../domain/shipment/shipment-state.ts";
import type { Ends } from "../../domain/route-ends.ts";
import type { BookedWindow } from "../../domain/schedule/decide-windows.ts";
import { auditStatements, changesBetween } from "../audit/record-change.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { type LockedShipment, lockShipments, mayAccess, shipmentNotFoundError } from "./find-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { type ChangedShipment, insertEventsOf, shipmentEvents, updateShipments } from "./write-shipments.ts";
import { claimOfChange, reserveSlots, type Settlement, settleSlots, type SlotClaim } from "./slot-places.ts";
import type { Slots } from "../slots/slots.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";

/** Result of a change: the shipment, and other computed values in `made`, if any. */
export type Changed<Made = unknown> = {
  readonly row: ShipmentRow;
  /** Error to return to the caller even though the row is written. */
  readonly refusal?: Refusal;
  /** New windows, with the capacity of their slots. Absent if the windows and the weight stay the same. */
  readonly windows?: Ends<BookedWindow> | undefined;
} & (undefined extends Made ? { readonly made?: Made } : { readonly made: Made });

export interface Change<Facts = unknown, Made = unknown> {
  /** `occurredAt` is the time of an act that was reported later. `undefined` for now. */
  readonly request: { readonly shipment: string; readonly occurredAt?: Timestamp | undefined };
  readonly call: Call;
  /** Loads additional data for the change while the shipment is being locked. */
  load?(tx: Transaction): Promise<Facts>;
  /**
   * Computes the shipment after the change. Returns the same row if nothing changes. May be called again in another
   * transaction.
   *
   * @param at time of the change
   * @throws Refusal if the change is not allowed
   */
  change(row: ShipmentRow, facts: Facts, at: Date): Changed<Made> | Promise<Changed<Made>>;
  write?(tx: Transaction, made: Made): void;
  /**
   * Returns the fields to compare for the audit log. Called with the row before and after the change. If omitted, the
   * change is not audited.
   */
  audited?(row: ShipmentRow): Readonly<Record<string, unknown>>;
}

interface ShipmentChange<M extends DescMethodUnary = DescMethodUnary, Facts = unknown, Made = unknown> extends Change<
  Facts,
  Made
> {
  readonly method: M;
  readonly request: MessageShape<M["input"]> & { readonly shipment: string };
  /** Returns the response fields besides `data`, which contains the shipment. */
  respond?(row: ShipmentRow, made: Made): Omit<MessageInitShape<M["output"]>, "data">;
}

/**
 * Changes a shipment and records the events. Resolves after the commit. Concurrent changes share a transaction. Changes
 * to the same shipment run one after the other.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, and the errors of `change`
 */
export type ChangeShipment = <M extends DescMethodUnary, Facts = undefined, Made = undefined>(
  change: ShipmentChange<M, Facts, Made>,
) => Promise<MessageShape<M["output"]>>;

export interface GroupDeps {
  readonly createGroup: CreateGroup;
  readonly slots: Slots;
  readonly versionFees: VersionFees;
  readonly now: () => Date;
}

const MAX_GROUP = 64;

/**
 * Creates the function that changes shipments in group commits.
 *
 * @param announce called with the workspace after a commit
 */
export function createChangeShipment(
  { createGroup, versionFees, slots, now }: GroupDeps,
  announce: (workspace: number) => void,
): ChangeShipment {
  const rejectIfInFlight = createRejectIfInFlight();
  const written: WrittenChanges = new WeakMap();
  const group: GroupOptions<ShipmentChange, MessageShape<DescMethodUnary["output"]>> = {
    name: "changes",
    maxMembers: MAX_GROUP,
    workspaceOf,
    serializeBy: shipmentOf,
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, changes) =>
      withIdempotencyEach(tx, changes, {
        load: (all) => lockAndLoad(tx, all, versionFees),
        async run(toRun, loaded) {
          const outcomes = await makeChanges(tx, toRun, loaded, { written, slots, now });
          return outcomes.map((outcome, i) => {
            if (!("result" in outcome)) return outcome;
            const { row, made } = outcome.result;
            const { method, call, respond } = toRun[i]!;
            const data = shipmentMessage(row, call.caller);
            return { result: create(method.output, { data, ...respond?.(row, made) }) };
          });
        },
      }),
  };
  const commitInGroup = createGroup(group);
  // Audited changes have their own group: the audit log is on the coordinator, and its lock would
  // delay other changes.
  const commitAudited = createGroup({
    ...group,
    name: "audited_changes",
    maxMembers: 1,
    onCoordinator: true,
  });
  return (async (change: ShipmentChange) => {
    const { shipment } = change.request;
    if (!isReference(shipment)) throw shipmentNotFoundError(shipment);
    const response = await rejectIfInFlight(change.call, () =>
      change.audited === undefined ? commitInGroup(change) : commitAudited(change),
    );
    if (written.has(change)) announce(change.call.caller.workspaceId);
    await settleSlots(slots, written.get(change)?.settlement);
    return response;
  }) as ChangeShipment;
}

const workspaceOf = ({ call }: Change) => call.caller.workspaceId;

/**
 * Returns the serialization key. Two changes to a shipment in one transaction would start from the same row, and one
 * change would be lost.
 */
function shipmentOf({ call, request }: Change): string {
  return `${call.caller.workspaceId} ${request.shipment}`;
}

export interface Loaded {
  readonly locked: LockedShipment | undefined;
  readonly facts: unknown;
}

export async function lockAndLoad(
  tx: Transaction,
  changes: readonly Change[],
  versionFees: VersionFees,
): Promise<Loaded[]> {
  const [shipments, facts] = await Promise.all([
    lockShipments(tx, changes.map(keyOf), versionFees),
    Promise.all(changes.map(async ({ load }) => load?.(tx))),
  ]);
  return shipments.map((locked, i) => ({ locked, facts: facts[i] }));
}

/**
 * Applies changes to different shipments in one transaction. Skips refused changes.
 *
 * @returns the resulting shipment with `made`, or the Refusal, for each change
 */
export async function makeChanges(
  tx: Transaction,
  changes: readonly Change[],
  loaded: readonly Loaded[],
  { written, slots, now }: { readonly written: WrittenChanges; readonly slots: Slots; readonly now: () => Date },
): Promise<Outcome<Changed>[]> {
  const made: MadeChange[] = [];
  const outcomes: Outcome<Changed>[] = [];
  for (const [i, by] of changes.entries()) {
    try {
      const { locked, facts } = loaded[i]!;
      if (locked === undefined || !mayAccess(by.call.caller, locked.row))
        throw shipmentNotFoundError(by.request.shipment);
      const { row: before, subscribers } = locked;
      const at = timeOfAct(by, before, now);
      const { row: after, made: result, refusal, windows } = await by.change(before, facts, at);
      const changed = after === before ? undefined : record(by.call, before, after);
      if (changed !== undefined) {
        const claim = claimOfChange(by.call, before, after, { windows, at });
        made.push({ ...changed, by, before, made: result, subscribers, claim, index: i });
      }
      outcomes.push(
        refusal === undefined ? { result: { row: changed?.row ?? before, made: result } } : { refused: refusal },
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      outcomes.push({ refused: error });
    }
  }
  const toWrite = made.some(({ claim }) => claim !== undefined)
    ? await withPlaces(made, { outcomes, slots, now: now() })
    : made;
  for (const { by, made: result, settlement } of toWrite) {
    by.write?.(tx, result);
    written.set(by, { settlement });
  }
  const owned = byOwner(toWrite, ({ by }) => workspaceOf(by));
  for (const [workspace, own] of owned) updateShipments(tx, workspace, own);
  for (const [workspace, own] of owned) insertEventsOf(tx, workspace, own, own[0]!.subscribers);
  // Every transaction must lock the feed, which events need, before the audit log.
  for (const change of toWrite) sendAuditEntry(tx, change);
  return outcomes;
}

/**
 * Reserves the places of changes in slots with a capacity. Returns the changes that can be written, and replaces the
 * outcomes of the others by refusals.
 */
async function withPlaces(
  made: readonly MadeChange[],
  { outcomes, slots, now }: { readonly outcomes: Outcome<Changed>[]; readonly slots: Slots; readonly now: Date },
): Promise<MadeChange[]> {
  const claiming = made.filter(({ claim }) => claim !== undefined);
  const reserved = await reserveSlots(
    slots,
    claiming.map(({ claim }) => claim!),
    now,
  );
  const results = new Map(claiming.map((change, i) => [change, reserved[i]!]));
  return made.flatMap((change) => {
    const settlement = results.get(change);
    if (!(settlement instanceof Refusal)) return [{ ...change, settlement }];
    outcomes[change.index] = { refused: settlement };
    return [];
  });
}

/** Maximum age of an act that is reported later, in milliseconds: 30 days, the maximum lifetime of a courier's link. */
const MAX_ACT_AGE_MS = 30 * 24 * 60 * 60_000;

/**
 * Returns the time of a change: now, or the reported time between the booking and now.
 *
 * @throws Refusal FIELD_INVALID if the reported time is too long ago
 */
function timeOfAct({ request, call }: Change, { createdAt }: ShipmentRow, now: () => Date): Date {
  const at = timeOf(call, now);
  const occurredMs = toInstantMs(request.occurredAt, Math.floor);
  if (occurredMs === undefined) return at;
  if (occurredMs >= at.getTime() - MAX_ACT_AGE_MS) {
    return new Date(Math.min(at.getTime(), Math.max(occurredMs, createdAt.getTime())));
  }
  throw invalidField("occurred_at", "must be within the last 30 days.");
}

function sendAuditEntry(tx: Transaction, { by, before, row }: MadeChange): void {
  if (by.audited === undefined) return;
  const { reference } = row;
  const changes = changesBetween(by.audited(before), by.audited(row));
  const subject = `shipment/${reference}` as const;
  const entry = { subject, workspaceId: workspaceOf(by), changes };
  for (const statement of auditStatements(by.call, entry)) tx.sendLast(...statement);
}

interface MadeChange extends ChangedShipment, Pick<LockedShipment, "subscribers"> {
  readonly by: Change;
  readonly before: ShipmentRow;
  readonly made: unknown;
  readonly claim: SlotClaim | undefined;
  readonly settlement?: Settlement | undefined;
  /** Position among the changes of the transaction. */
  readonly index: number;
}

/** Changes that wrote data, with the places to settle after the commit. */
export type WrittenChanges = WeakMap<Change, { readonly settlement: Settlement | undefined }>;

function keyOf(change: Change) {
  return { workspace: workspaceOf(change), reference: change.request.shipment };
}

/**
 * Updates the version of a changed row and creates its events. A change without an event, such as a
 * small ETA update, keeps the version, so that concurrent editors are not affected.
 */
function record(call: Call, before: ShipmentRow, after: ShipmentRow): ChangedShipment {
  const types = shipmentEventTypes(before, after);
  const { version, updatedAt } = before;
  const isEvent = types.length > 0;
  const counted = isEvent ? { version: version + 1 } : { version, updatedAt };
  const recorded = shipmentEvents(types, before, { ...after, ...counted }, call);
  // An act that was reported later does not set back the time of the last change.
  return recorded.row.updatedAt < updatedAt ? { ...recorded, row: { ...recorded.row, updatedAt } } : recorded;
}

/**
 * Returns a shipment after a trigger.
 *
 * @throws Refusal SHIPMENT_STATE if its state does not allow the trigger, NOT_VERIFIED if the verification is missing
 */
export function applyTrigger(row: ShipmentRow, trigger: Trigger, at: Date): ShipmentRow {
  const next = stateAfter(row, trigger);
  if (next.status === row.status) return { ...row, ...next, updatedAt: at };
  if (next.status === "delivered") assertVerified(row);
  const ended = END_OF[next.status];
  const progress = row.progress && progressFrom(row.progress, next.status);
  return { ...row, ...next, progress, updatedAt: at, ...(ended && { [ended]: at }) };
}

/**
 * Returns the state after a trigger.
 *
 * @throws Refusal SHIPMENT_STATE if the state does not allow it
 */
export function stateAfter(state: ShipmentState, trigger: Trigger): ShipmentState {
  const { next, refusal } = transition(trigger, state);
  if (next === undefined) throw stateError(refusal);
  return next;
}

/**
 * Checks the status that a caller expects, if any.
 *
 * @throws Refusal SHIPMENT_STATE if the shipment has a different status
 */
export function assertFrom({ status }: ShipmentState, from: ShipmentStatus | undefined): void {
  if (from === undefined || status === from) return;
  throw stateError(`The shipment is ${statusText(status)}, not ${statusText(from)}.`);
}

function assertVerified({ verification, progress }: ShipmentRow): void {
  if (verification === null || isVerified(verification, progress?.proof)) return;
  const what = verification.by === "pin" ? "PIN" : verification.by;
  const text = `The shipment cannot be delivered because its ${what} was not recorded. Record it, or waive the verification.`;
  throw refuse("NOT_VERIFIED", text, { subject: "dropoff_verification" });
}

/** Column with the time at which a shipment reached a final status. */
const END_OF: Partial<Record<ShipmentStatus, keyof ShipmentRow>> = {
  delivered: "deliveredAt",
  returned: "returnedAt",
  cancelled: "cancelledAt",
};
