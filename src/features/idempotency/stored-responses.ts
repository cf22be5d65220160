import { hash } from "node:crypto";
import {
  fromBinary,
  toBinary,
  toJson,
  type DescMethodUnary,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { StoredResponse } from "./stored-response.entity.ts";

/** How long responses are stored, as a PostgreSQL interval. */
export const RETENTION = "24 hours";

/** A call of a method, with its request. */
export interface MethodCall<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]>;
  readonly call: Call;
}

/** The response message of a call's method. */
export type ResponseTo<C extends MethodCall> = MessageShape<C["method"]["output"]>;

/** The outcomes of some calls. */
type Outcomes<C extends MethodCall> = Map<C, Outcome<ResponseTo<C>>>;

/**
 * Locks the idempotency keys of calls until the transaction ends, and replays the responses stored
 * under them.
 *
 * @param calls no two with the same key: one transaction can lock a key twice
 * @returns for each call that must not run, its stored response or a Refusal
 * (IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED); nothing for the calls that are to run
 */
export async function replayStoredResponses<C extends MethodCall>(
  tx: EntityManager,
  calls: readonly C[],
): Promise<Outcomes<C>> {
  const outcomes: Outcomes<C> = new Map();
  const keyed = calls.filter(({ call }) => call.idempotencyKey !== undefined);
  if (keyed.length === 0) return outcomes;
  const workspaces = keyed.map(({ call }) => call.caller.workspaceId);
  const keys = keyed.map(({ call }) => call.idempotencyKey!);
  const locked = await lockKeys(tx, workspaces, keys);
  const stored = await readStoredResponses(tx, workspaces, keys);
  keyed.forEach((methodCall, i) => {
    const response = stored.get(i);
    if (!locked[i]) outcomes.set(methodCall, { refused: keyInUseError() });
    else if (response !== undefined) outcomes.set(methodCall, replay(methodCall, response));
  });
  return outcomes;
}

/** Stores the response to a call, if it has a key, in the transaction of the call's effect. */
export function storeResponse<C extends MethodCall>(
  tx: EntityManager,
  { method, request, call }: C,
  response: ResponseTo<C>,
): void {
  if (call.idempotencyKey === undefined) return;
  tx.create(StoredResponse, {
    workspace: call.caller.workspaceId,
    key: call.idempotencyKey,
    method: methodName(method),
    requestDigest: requestDigest(method, request),
    response: Buffer.from(toBinary(method.output, response)),
    createdAt: new Date(),
  });
}

/** The error of a call whose key another call in flight has. */
export function keyInUseError(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_IN_USE",
    "A call with this idempotency key is still running; try again in a moment.",
    { subject: "idempotency_key", retryAfterSeconds: 1 },
  );
}

/** Tries to lock each key, without waiting for a transaction that holds it. */
async function lockKeys(
  tx: EntityManager,
  workspaces: readonly number[],
  keys: readonly string[],
): Promise<boolean[]> {
  const rows = await runStatement<{ locked: boolean }>(
    tx,
    `select pg_try_advisory_xact_lock(hashtextextended('idempotency ' || key, workspace)) as locked
     from unnest($1::bigint[], $2::text[]) with ordinality as wanted (workspace, key, place)
     order by place`,
    [workspaces, keys],
  );
  return rows.map(({ locked }) => locked);
}

type StoredRow = Pick<StoredResponse, "method" | "requestDigest" | "response">;

/**
 * The responses stored under keys, by the index of the key; those that have expired are deleted. A
 * statement of its own, after the keys are locked, because its snapshot has to include what the
 * previous holder of a key has committed.
 */
async function readStoredResponses(
  tx: EntityManager,
  workspaces: readonly number[],
  keys: readonly string[],
): Promise<Map<number, StoredRow>> {
  const rows = await runStatement<StoredRow & { place: number }>(
    tx,
    `with stored as (
       select place, kept_answer.*, created_at < now() - $3::interval as expired
       from unnest($1::bigint[], $2::text[]) with ordinality as wanted (workspace, key, place)
       join kept_answer
         on kept_answer.workspace_id = wanted.workspace and kept_answer.key = wanted.key
     ), deleted as (
       delete from kept_answer using stored
       where stored.expired and kept_answer.workspace_id = stored.workspace_id
         and kept_answer.key = stored.key
     )
     select place::int, method, request_digest as "requestDigest", response from stored
     where not expired`,
    [workspaces, keys, RETENTION],
  );
  return new Map(rows.map(({ place, ...row }) => [place - 1, row]));
}

function replay<C extends MethodCall>(
  { method, request, call }: C,
  stored: StoredRow,
): Outcome<ResponseTo<C>> {
  const isSameRequest =
    stored.method === methodName(method) && stored.requestDigest === requestDigest(method, request);
  if (!isSameRequest) return { refused: keyReusedError() };
  call.replayed = true;
  return { result: fromBinary(method.output, stored.response) as ResponseTo<C> };
}

function methodName({ parent, name }: DescMethodUnary): string {
  return `${parent.typeName}/${name}`;
}

/** SHA-256 of the request's canonical JSON, in which the order of map entries does not matter. */
function requestDigest(method: DescMethodUnary, request: Message): string {
  return hash("sha256", canonicalText(toJson(method.input, request)), "base64url");
}

function keyReusedError(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key came with another request before; use a new key for every request.",
    { subject: "idempotency_key" },
  );
}
