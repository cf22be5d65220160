import { hash } from "node:crypto";
import {
  fromBinary,
  toBinary,
  toJson,
  type DescMethodUnary,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { StoredResponse } from "./stored-response.entity.ts";

/** How long an answer is kept, as PostgreSQL says it. */
export const KEPT_FOR = "24 hours";

/** A call of a method with what it asks for. */
export interface KeyedCall<M extends DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]>;
  readonly call: Call;
}

/** What calls of a method have come to. */
type Outcomes<M extends DescMethodUnary> = Map<KeyedCall<M>, Outcome<MessageShape<M["output"]>>>;

/**
 * Locks the idempotency keys of calls until the transaction ends, and looks for the answers that
 * were kept under them.
 *
 * @param calls of which no two have the same key: the lock would not keep them apart
 * @returns what has come already of some of the calls: the kept answer, or a refusal
 * (IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED). The work of the others is to be done
 */
export async function findStoredResponses<M extends DescMethodUnary>(
  tx: EntityManager,
  calls: readonly KeyedCall<M>[],
): Promise<Outcomes<M>> {
  const outcomes: Outcomes<M> = new Map();
  const keyed = calls.filter(({ call }) => call.idempotencyKey !== undefined);
  if (keyed.length === 0) return outcomes;
  const workspaces = keyed.map(({ call }) => call.caller.workspaceId);
  const keys = keyed.map(({ call }) => call.idempotencyKey!);
  const locked = await lockKeys(tx, workspaces, keys);
  const kept = await findKept(tx, workspaces, keys);
  keyed.forEach((asked, i) => {
    const answer = kept.get(i);
    if (!locked[i]) outcomes.set(asked, { refused: refuseInUse() });
    else if (answer !== undefined) outcomes.set(asked, recall(asked, answer));
  });
  return outcomes;
}

/** Keeps the answer to a call that has a key, in the transaction of the call's effect. */
export function storeResponse<M extends DescMethodUnary>(
  tx: EntityManager,
  { method, request, call }: KeyedCall<M>,
  answer: MessageShape<M["output"]>,
): void {
  if (call.idempotencyKey === undefined) return;
  tx.create(StoredResponse, {
    workspace: call.caller.workspaceId,
    key: call.idempotencyKey,
    method: nameOf(method),
    requestDigest: digestOf(method, request),
    response: Buffer.from(toBinary(method.output, answer)),
    createdAt: new Date(),
  });
}

/** For a call whose key is that of another call which has not ended. */
export function refuseInUse(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_IN_USE",
    "A call with this idempotency key is still running; try again in a moment.",
    { subject: "idempotency_key", retryAfterSeconds: 1 },
  );
}

/** Two calls with one key at the same time: the second is told so, and does not wait. */
async function lockKeys(
  tx: EntityManager,
  workspaces: readonly number[],
  keys: readonly string[],
): Promise<boolean[]> {
  const rows = await runStatement<{ locked: boolean }>(
    tx,
    `select pg_try_advisory_xact_lock(hashtextextended(key, workspace)) as locked
     from unnest($1::bigint[], $2::text[]) with ordinality as asked (workspace, key, place)
     order by place`,
    [workspaces, keys],
  );
  return rows.map(({ locked }) => locked);
}

type FoundAnswer = Pick<StoredResponse, "method" | "requestDigest" | "response">;

/**
 * The answers kept under keys, by the keys' places; those that are past their time make way. A
 * statement of its own, begun when the keys are locked, so that it sees what whoever had them
 * before has committed.
 */
async function findKept(
  tx: EntityManager,
  workspaces: readonly number[],
  keys: readonly string[],
): Promise<Map<number, FoundAnswer>> {
  const rows = await runStatement<FoundAnswer & { place: number }>(
    tx,
    `with kept as (
       select place, kept_answer.*, created_at < now() - $3::interval as past
       from unnest($1::bigint[], $2::text[]) with ordinality as asked (workspace, key, place)
       join kept_answer on kept_answer.workspace_id = asked.workspace and kept_answer.key = asked.key
     ), forgotten as (
       delete from kept_answer using kept
       where kept.past and kept_answer.workspace_id = kept.workspace_id
         and kept_answer.key = kept.key
     )
     select place::int, method, request_digest as "requestDigest", response from kept
     where not past`,
    [workspaces, keys, KEPT_FOR],
  );
  return new Map(rows.map(({ place, ...answer }) => [place - 1, answer]));
}

function recall<M extends DescMethodUnary>(
  { method, request, call }: KeyedCall<M>,
  kept: FoundAnswer,
): Outcome<MessageShape<M["output"]>> {
  if (kept.method !== nameOf(method) || kept.requestDigest !== digestOf(method, request)) {
    return { refused: refuseReuse() };
  }
  call.replayed = true;
  return { result: fromBinary(method.output, kept.response) as MessageShape<M["output"]> };
}

function nameOf({ parent, name }: DescMethodUnary): string {
  return `${parent.typeName}/${name}`;
}

/** The same for requests that say the same, in whatever order a client wrote their maps. */
function digestOf<M extends DescMethodUnary>(method: M, request: MessageShape<M["input"]>): string {
  return hash("sha256", canonicalText(toJson(method.input, request)), "base64url");
}

function refuseReuse(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key came with another request before; use a new key for every request.",
    { subject: "idempotency_key" },
  );
}
