import { hash } from "node:crypto";
import {
  fromBinary,
  toBinary,
  toJson,
  type DescMethodUnary,
  type MessageShape,
} from "@bufbuild/protobuf";
import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../db/orm.ts";
import { canonicalText } from "../domain/canonical-text.ts";
import { refuse } from "../domain/refusal.ts";
import type { Call } from "../rpc/caller.ts";
import { KeptAnswer } from "./kept-answer.entity.ts";

/** How long an answer is kept, as PostgreSQL says it. */
export const KEPT_FOR = "24 hours";

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
export function answerOnce<M extends DescMethodUnary>(
  em: EntityManager,
  method: M,
  request: MessageShape<M["input"]>,
  call: Call,
  work: (tx: EntityManager) => Promise<MessageShape<M["output"]>>,
): Promise<MessageShape<M["output"]>> {
  const { idempotencyKey: key } = call;
  return em.fork().transactional(async (tx) => {
    if (key === undefined) return await work(tx);
    const workspace = call.caller.workspaceId;
    const name = `${method.parent.typeName}/${method.name}`;
    const requestDigest = digestOf(method, request);
    await lockKey(tx, workspace, key);

    const kept = await findKept(tx, workspace, key);
    if (kept !== null) {
      if (kept.method !== name || kept.requestDigest !== requestDigest) throw refuseReuse();
      call.replayed = true;
      return fromBinary(method.output, kept.response) as MessageShape<M["output"]>;
    }
    const answer = await work(tx);
    const response = Buffer.from(toBinary(method.output, answer));
    tx.create(KeptAnswer, {
      workspace,
      key,
      method: name,
      requestDigest,
      response,
      createdAt: new Date(),
    });
    return answer;
  });
}

/** Two calls with one key at the same time: the second is told so, and does not wait. */
async function lockKey(tx: EntityManager, workspace: number, key: string): Promise<void> {
  const [{ locked }] = await tx.execute<[{ locked: boolean }]>(
    "select pg_try_advisory_xact_lock(hashtextextended(?, ?)) as locked",
    [key, workspace],
  );
  if (locked) return;
  throw refuse(
    "IDEMPOTENCY_KEY_IN_USE",
    "A call with this idempotency key is still running; try again in a moment.",
    { subject: "idempotency_key", retryAfterSeconds: 1 },
  );
}

/** The answer kept for a key; one that is past its time makes way. */
async function findKept(tx: EntityManager, workspace: number, key: string) {
  await tx.nativeDelete(KeptAnswer, { workspace, key, createdAt: { $lt: pastTime() } });
  return tx.findOne(KeptAnswer, { workspace, key });
}

/** The moment before which answers are past their time, by the database's clock. */
export function pastTime() {
  return sql`now() - ${KEPT_FOR}::interval`;
}

/** The same for requests that say the same, in whatever order a client wrote their maps. */
function digestOf<M extends DescMethodUnary>(method: M, request: MessageShape<M["input"]>): string {
  return hash("sha256", canonicalText(toJson(method.input, request)), "base64url");
}

function refuseReuse() {
  return refuse(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key came with another request before; use a new key for every request.",
    { subject: "idempotency_key" },
  );
}
