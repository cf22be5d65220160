import type { DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { storeResponse, findStoredResponses, type KeyedCall } from "./stored-responses.ts";

/**
 * Does the work of a call in one transaction. With an idempotency key, the answer is kept in that
 * same transaction, so that the call can be repeated after any failure: whoever repeats it within
 * 24 hours gets the kept answer, and the work is not done again. A call that is refused keeps
 * nothing.
 *
 * @param work flushes what the response depends on
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE while another call with the key runs,
 * IDEMPOTENCY_KEY_REUSED for another request, and whatever `work` throws
 */
export function withIdempotency<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  request: MessageShape<M["input"]>,
  call: Call,
  work: (tx: EntityManager) => Promise<MessageShape<M["output"]>>,
): Promise<MessageShape<M["output"]>> {
  return em.fork().transactional(async (tx) => {
    const [outcome] = await withIdempotencyEach(tx, [{ method, request, call }], async () => [
      { result: await work(tx) },
    ]);
    if ("result" in outcome!) return outcome.result;
    throw outcome!.refused;
  });
}

/**
 * The same for calls that share the caller's transaction, each with an outcome of its own.
 *
 * @param calls of which no two have the same key
 * @param work does the work of those calls that have no answer yet; an answer is complete before
 * it is flushed
 */
export async function withIdempotencyEach<M extends DescMethodUnary>(
  tx: EntityManager,
  calls: readonly KeyedCall<M>[],
  work: (calls: readonly KeyedCall<M>[]) => Promise<Outcome<MessageShape<M["output"]>>[]>,
): Promise<Outcome<MessageShape<M["output"]>>[]> {
  const outcomes = await findStoredResponses(tx, calls);
  const toDo = calls.filter((asked) => !outcomes.has(asked));
  const done = toDo.length === 0 ? [] : await work(toDo);
  toDo.forEach((asked, i) => {
    const outcome = done[i]!;
    outcomes.set(asked, outcome);
    if ("result" in outcome) storeResponse(tx, asked, outcome.result);
  });
  return calls.map((asked) => outcomes.get(asked)!);
}
