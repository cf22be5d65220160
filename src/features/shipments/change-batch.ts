import { create, type DescMethodUnary, type MessageShape } from "@bufbuild/protobuf";
import { type BatchResult, BatchResultSchema } from "../../../gen/shipments/v1/batch_pb.js";
import type { Outcome } from "../../db/group-commit.ts";
import { type Refusal, refuseAny, type Violation } from "../../domain/refusal.ts";
import { isReference } from "../../domain/shipment/shipment-reference.ts";
import type { Call } from "../../pipeline/call.ts";
import { createRejectIfInFlight, withIdempotencyEach } from "../idempotency/with-idempotency.ts";
import {
  type Change,
  type Changed,
  type GroupDeps,
  lockAndLoad,
  makeChanges,
  type WrittenChanges,
} from "./change-shipment.ts";
import { shipmentNotFoundError } from "./find-shipment.ts";
import { settleSlots } from "./slot-places.ts";
import { shipmentMessage } from "./shipment-message.ts";

interface ShipmentBatch<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]>;
  readonly call: Call;
  readonly changes: readonly Change[];
  /** Returns the path of the request field that names the shipment of a change. */
  readonly pathOf: (index: number) => string;
}

/**
 * Applies changes and records their events in one transaction. Resolves after the commit. A refused
 * change is skipped, and its result contains the error.
 *
 * @throws Refusal FIELD_INVALID if a shipment is named twice
 */
export type ChangeBatch = <M extends DescMethodUnary>(batch: ShipmentBatch<M>) => Promise<MessageShape<M["output"]>>;

/**
 * Creates the function that applies batches of changes. Each batch has its own transaction. Batches
 * of one workspace run one at a time, so a single workspace cannot use all connections.
 *
 * @param announce called with the workspace after a commit
 */
export function createChangeBatch(
  { createGroup, versionFees, slots, now }: GroupDeps,
  announce: (workspace: number) => void,
): ChangeBatch {
  const rejectIfInFlight = createRejectIfInFlight();
  const written: WrittenChanges = new WeakMap();
  const commit = createGroup({
    name: "batches",
    maxMembers: 1,
    workspaceOf,
    serializeBy: (batch: ShipmentBatch) => String(workspaceOf(batch)),
    deadlineMs: ({ call }) => call.received.deadlineMs ?? Infinity,
    spanOf: ({ call }) => call.received.span,
    work: (tx, batches: readonly ShipmentBatch[]) =>
      withIdempotencyEach(tx, batches, {
        load: (all) => Promise.all(all.map((batch) => lockAndLoad(tx, withValidReference(batch), versionFees))),
        run: (toRun, loaded) =>
          Promise.all(
            toRun.map(async (batch, i) => {
              const changes = withValidReference(batch);
              const outcomes = await makeChanges(tx, changes, loaded[i]!, { written, slots, now });
              const results = resultsOf(batch, outcomes);
              return { result: create(batch.method.output, { results }) };
            }),
          ),
      }),
  });
  return (async (batch: ShipmentBatch) => {
    assertNamedOnce(batch);
    const response = await rejectIfInFlight(batch.call, () => commit(batch));
    if (batch.changes.some((change) => written.has(change))) announce(workspaceOf(batch));
    await Promise.all(batch.changes.map((change) => settleSlots(slots, written.get(change)?.settlement)));
    return response;
  }) as ChangeBatch;
}

const workspaceOf = ({ call }: ShipmentBatch) => call.caller.workspaceId;

function withValidReference({ changes }: ShipmentBatch): readonly Change[] {
  return changes.filter(({ request }) => isReference(request.shipment));
}

/**
 * @throws Refusal FIELD_INVALID if a shipment is named twice, because the order of its changes is undefined
 */
function assertNamedOnce({ changes, pathOf }: ShipmentBatch): void {
  const first = new Map<string, number>();
  const violations: Violation[] = [];
  for (const [index, { request }] of changes.entries()) {
    const before = first.get(request.shipment);
    if (before === undefined) first.set(request.shipment, index);
    else {
      const subject = pathOf(index);
      const text = `${subject} is the same as ${pathOf(before)}. List each shipment once.`;
      violations.push({ reason: "FIELD_INVALID", subject, text });
    }
  }
  refuseAny(violations);
}

/**
 * Returns the results of all changes in a batch, in order.
 *
 * @param outcomes outcomes of the changes that `withValidReference` returns
 */
function resultsOf({ call, changes }: ShipmentBatch, outcomes: readonly Outcome<Changed>[]): BatchResult[] {
  const next = outcomes.values();
  return changes.map(({ request: { shipment } }) => {
    const outcome = isReference(shipment) ? next.next().value! : { refused: shipmentNotFoundError(shipment) };
    if (!("result" in outcome)) return refusedResult(shipment, outcome.refused as Refusal);
    const { status, paymentStatus, etag } = shipmentMessage(outcome.result.row, call.caller);
    return create(BatchResultSchema, { shipment, status, paymentStatus, etag });
  });
}

export function refusedResult(shipment: string, { reason, message, violations }: Refusal): BatchResult {
  const errors = violations.flatMap(({ subject, text }) => (subject === undefined ? [] : [{ field: subject, text }]));
  return create(BatchResultSchema, { shipment, error: { code: reason, message, errors } });
}
