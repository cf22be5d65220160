import {
  create,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-commit.ts";
import { isUniqueViolation } from "../../db/database-error.ts";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { traceTransaction } from "../../db/trace-transaction.ts";
import { loadTestTimes } from "../workspaces/test-clock.ts";
import { recordingChanges } from "../audit/record-change.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import type { MethodCall, Transact } from "../../pipeline/rpc.ts";
import {
  keyInUseError,
  replayStoredResponses,
  type ResponseTo,
  storingResponse,
} from "./stored-responses.ts";

/**
 * Runs the work of a call in one transaction, with the changes that it records. If the call has an
 * idempotency key, its response is stored in the same transaction, so that the call can be repeated
 * after any failure: within 24 hours a repetition gets the stored response, and the work does not run
 * again. Nothing is stored for a call that is refused.
 *
 * @param work flushes what the response depends on, and returns the response, or its fields
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE while another call with the key is in flight,
 * IDEMPOTENCY_KEY_REUSED when the key came with another request, and whatever `work` throws
 */
export function withIdempotency<M extends DescMethodUnary>(
  em: EntityManager,
  methodCall: MethodCall<M>,
  work: (tx: EntityManager) => Promise<MessageInitShape<M["output"]>>,
): Promise<MessageShape<M["output"]>> {
  const { method, call } = methodCall;
  const transaction = () =>
    em.fork().transactional((tx) =>
      recordingChanges(tx, async () => {
        const stored = (await replayStoredResponses(tx, [methodCall])).get(methodCall);
        if (stored !== undefined) return resultOf(stored);
        const response = create<M["output"]>(method.output, await work(tx));
        const storing = storingResponse(methodCall, response);
        if (storing !== undefined) await runStatement(tx, ...storing).catch(throwAsInUse);
        return response;
      }),
    );
  return traceTransaction([call.received.span], transaction);
}

/** Of a distributed database, bookings and changes lock keys at a node, and other calls at the coordinator. */
function throwAsInUse(error: unknown): never {
  throw isUniqueViolation(error) ? keyInUseError() : error;
}

/** Runs each call that writes in a transaction of its own, which its function gets as `em`. */
export function createTransact<Deps extends DatabaseDeps>(deps: Deps): Transact<Deps> {
  return (methodCall, work) => withIdempotency(deps.em, methodCall, (em) => work({ ...deps, em }));
}

function resultOf<Result>(outcome: Outcome<Result>): Result {
  if ("result" in outcome) return outcome.result;
  throw outcome.refused;
}

/** What is done for several calls in one transaction. */
interface Work<C extends MethodCall, Facts> {
  /**
   * Loads what calls depend on, in their order. Sent along with the look at their keys, so for calls too
   * that do not run.
   */
  readonly load: (calls: readonly C[]) => Promise<readonly Facts[]>;
  /**
   * Does the work of the calls that have no stored response, by what was loaded for them; gives their
   * outcomes, in their order. Responses are stored as they are returned.
   */
  readonly run: (
    calls: readonly C[],
    facts: readonly Facts[],
  ) => Promise<readonly Outcome<ResponseTo<C>>[]>;
}

/**
 * The same for several calls in the caller's transaction, each with its own outcome. Asks the database
 * once, also for the clocks of test twins.
 *
 * @param calls no two with the same key
 * @returns the outcomes of all calls, in their order
 */
export async function withIdempotencyEach<C extends MethodCall, Facts>(
  tx: Transaction,
  calls: readonly C[],
  { load, run }: Work<C, Facts>,
): Promise<Outcome<ResponseTo<C>>[]> {
  const [outcomes, facts] = await Promise.all([
    replayStoredResponses(tx, calls),
    load(calls),
    loadTestTimes(
      tx,
      calls.map(({ call }) => call),
    ),
  ]);
  const isToRun = calls.map((methodCall) => !outcomes.has(methodCall));
  const toRun = calls.filter((_, i) => isToRun[i]);
  const factsToRun = facts.filter((_, i) => isToRun[i]);
  const ran = toRun.length === 0 ? [] : await run(toRun, factsToRun);
  for (const [i, methodCall] of toRun.entries()) {
    const outcome = ran[i]!;
    outcomes.set(methodCall, outcome);
    const storing = "result" in outcome && storingResponse(methodCall, outcome.result);
    if (storing) void tx.send(...storing);
  }
  return calls.map((methodCall) => outcomes.get(methodCall)!);
}

/**
 * Rejects a call while another call with its idempotency key is in flight in this process. Needed
 * where calls share a transaction: the database's lock on the key works between transactions only.
 *
 * @returns runs the work of a call
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE, and whatever the work throws
 */
export function createRejectIfInFlight(): <T>(call: AnyCall, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Set<string>();
  return async ({ caller, idempotencyKey }, work) => {
    if (idempotencyKey === undefined) return work();
    const key = `${caller.account} ${idempotencyKey}`;
    if (inFlight.has(key)) throw keyInUseError();
    inFlight.add(key);
    try {
      return await work();
    } finally {
      inFlight.delete(key);
    }
  };
}
