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
 * Runs a call in one transaction with the changes that it records. With an idempotency key, the
 * response is stored in the same transaction, so that the call can be repeated after any failure.
 * Within 24 hours a repetition gets the stored response without another run. Refusals are not
 * stored.
 *
 * @param work flushes the data that the response depends on, and returns the response, or its
 *   fields
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE while another call with the key is in flight,
 *   IDEMPOTENCY_KEY_REUSED if the key was used with another request, and errors of `work`
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

/** In a distributed database, bookings and changes lock keys on a node, and other calls on the coordinator. */
function throwAsInUse(error: unknown): never {
  throw isUniqueViolation(error) ? keyInUseError() : error;
}

/** Runs each writing call in a separate transaction, which its function gets as `em`. */
export function createTransact<Deps extends DatabaseDeps>(deps: Deps): Transact<Deps> {
  return (methodCall, work) => withIdempotency(deps.em, methodCall, (em) => work({ ...deps, em }));
}

function resultOf<Result>(outcome: Outcome<Result>): Result {
  if ("result" in outcome) return outcome.result;
  throw outcome.refused;
}

/** Work for several calls in one transaction. */
interface Work<C extends MethodCall, Facts> {
  /**
   * Loads the data that calls depend on, in order. Sent together with the lookup of their keys, so
   * also for calls that do not run.
   */
  readonly load: (calls: readonly C[]) => Promise<readonly Facts[]>;
  /**
   * Runs the calls without a stored response, with their loaded data. Returns their outcomes in
   * order. Responses are stored as returned.
   */
  readonly run: (
    calls: readonly C[],
    facts: readonly Facts[],
  ) => Promise<readonly Outcome<ResponseTo<C>>[]>;
}

/**
 * Does the same for several calls in the caller's transaction, each with its own outcome. Uses one
 * round trip, also for the clocks of test twins.
 *
 * @param calls with distinct keys
 * @returns the outcomes of all calls, in order
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
 * Rejects a call while another call with its idempotency key is in flight in this process. Required if calls share a
 * transaction, because the database's lock on the key works only between transactions.
 *
 * @returns a function that runs the work of a call
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE, and errors of the work
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
