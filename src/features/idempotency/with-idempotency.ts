import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
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
import { keyInUseError, replayStoredResponses, type ResponseTo, storingResponse } from "./stored-responses.ts";

/**
 * Runs a call in one transaction, together with the audit entries of its changes. If the call has an idempotency key,
 * the response is stored in the same transaction, so that the call can be repeated after any failure. A repetition
 * within 24 hours returns the stored response without running the call again. Refusals are not stored.
 *
 * @param work flushes the data on which the response depends, and returns the response or its fields
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE while another call with the key is in flight, IDEMPOTENCY_KEY_REUSED if the
 *   key was used with another request, and errors of `work`
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

/**
 * Converts a unique violation to a refusal. In a distributed database, bookings and changes lock idempotency keys on
 * a node, but other calls lock them on the coordinator, so two calls can hold the same key.
 */
function throwAsInUse(error: unknown): never {
  throw isUniqueViolation(error) ? keyInUseError() : error;
}

/** Creates the function that runs each writing call in a separate transaction, passed to the call as `em`. */
export function createTransact<Deps extends DatabaseDeps>(deps: Deps): Transact<Deps> {
  return (methodCall, work) => withIdempotency(deps.em, methodCall, (em) => work({ ...deps, em }));
}

function resultOf<Result>(outcome: Outcome<Result>): Result {
  if ("result" in outcome) return outcome.result;
  throw outcome.refused;
}

/** Functions that perform several calls in one transaction. */
interface Work<C extends MethodCall, Facts> {
  /**
   * Loads the data for the calls, in order. Sent together with the lookup of the idempotency keys,
   * so it also loads data for calls that will not run.
   */
  readonly load: (calls: readonly C[]) => Promise<readonly Facts[]>;
  /**
   * Runs the calls that have no stored response, with their loaded data. Returns their outcomes in
   * order. Responses are stored as returned.
   */
  readonly run: (calls: readonly C[], facts: readonly Facts[]) => Promise<readonly Outcome<ResponseTo<C>>[]>;
}

/**
 * Like `withIdempotency`, for several calls in the caller's transaction. Each call has its own
 * outcome. Uses one round trip, including the clocks of test twins.
 *
 * @param calls calls with distinct keys
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
 * Creates a function that rejects a call while another call with the same idempotency key is in
 * flight in this process. Required if calls share a transaction, because the database's lock on the
 * key works only between transactions.
 *
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE, and errors of the work, from the created function
 */
export function createRejectIfInFlight(): <T>(call: AnyCall, work: () => Promise<T>) => Promise<T> {
  const inFlight = new Set<string>();
  return async ({ caller, idempotencyKey }, work) => {
    if (idempotencyKey === undefined) return work();
    const key = `${caller.audience === "workspace" ? caller.workspaceId : caller.account} ${idempotencyKey}`;
    if (inFlight.has(key)) throw keyInUseError();
    inFlight.add(key);
    try {
      return await work();
    } finally {
      inFlight.delete(key);
    }
  };
}
