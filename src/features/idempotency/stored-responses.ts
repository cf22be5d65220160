import { hash } from "node:crypto";
import {
  type DescMethodUnary,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-transaction.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type { Audience, RepeatableCall } from "../../pipeline/call.ts";
import { OperatorStoredResponse } from "./operator-stored-response.entity.ts";
import { holdsSecret, openResponse, type SealedFor, sealResponse } from "./sealed-response.ts";
import { StoredResponse } from "./stored-response.entity.ts";

/** How long responses are stored, as a PostgreSQL interval. */
export const RETENTION = "24 hours";

/** A call of a method, with its request. */
export interface MethodCall<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]>;
  readonly call: RepeatableCall;
}

/** The response message of a call's method. */
export type ResponseTo<C extends MethodCall> = MessageShape<C["method"]["output"]>;

/** The outcomes of some calls. */
type Outcomes<C extends MethodCall> = Map<C, Outcome<ResponseTo<C>>>;

/**
 * Locks the idempotency keys of calls until the transaction ends, and replays the responses stored
 * under them.
 *
 * @param calls all of one audience, and no two with the same key: one transaction can lock a key twice
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
  const { audience } = keyed[0]!.call.caller;
  const owners = keyed.map(({ call }) => ownerOf(call));
  const keys = keyed.map(({ call }) => call.idempotencyKey!);
  const locked = await lockKeys(tx, audience, owners, keys);
  const stored = await readStoredResponses(tx, audience, owners, keys);
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
  const row = {
    key: call.idempotencyKey,
    method: methodName(method),
    requestDigest: requestDigest(method, request),
    response: bytesToStore({ method, request, call }, response),
    createdAt: new Date(),
  };
  const owner = ownerOf(call);
  if (call.caller.audience === "workspace") tx.create(StoredResponse, { ...row, workspace: owner });
  else tx.create(OperatorStoredResponse, { ...row, operator: owner });
}

/** A response in its binary form, sealed if it holds a secret: of secrets only hashes are stored. */
function bytesToStore<C extends MethodCall>(methodCall: C, response: ResponseTo<C>): Buffer {
  const { output } = methodCall.method;
  const bytes = Buffer.from(toBinary(output, response));
  return holdsSecret(output) ? sealResponse(bytes, sealedFor(methodCall)) : bytes;
}

function sealedFor({ method, request, call }: MethodCall): SealedFor {
  const { idempotencyKey } = call;
  const { credential } = call.received;
  if (credential === undefined || idempotencyKey === undefined)
    throw new Error("the call has no key");
  const digest = requestDigest(method, request);
  return { secretKey: credential, idempotencyKey, request: `${methodName(method)} ${digest}` };
}

/** Where the responses to an audience's calls are stored, and under what its keys are locked. */
export interface Store {
  readonly table: string;
  /** The column of the owner of a key: the workspace, or the operator. */
  readonly owner: string;
  readonly lock: string;
}

/** People repeat calls of their own without keys: those have no other effect the second time. */
type StoringAudience = Exclude<Audience, "person">;

/** Where responses are stored. */
export const STORES: Readonly<Record<StoringAudience, Store>> = {
  workspace: { table: "kept_answer", owner: "workspace_id", lock: "idempotency " },
  operator: { table: "operator_stored_response", owner: "operator", lock: "operator idempotency " },
};

/** Who owns a call's idempotency key. */
function ownerOf({ caller }: RepeatableCall): number {
  if (caller.audience === "workspace") return caller.workspaceId;
  if (caller.operatorId === undefined) throw new Error(`${caller.actor} has no idempotency keys`);
  return caller.operatorId;
}

/** The error of a call whose key another call in flight has. */
export function keyInUseError(): Refusal {
  return refuse("IDEMPOTENCY_KEY_IN_USE", { retryAfterSeconds: 1 });
}

/** Tries to lock each key, without waiting for a transaction that holds it. */
async function lockKeys(
  tx: EntityManager,
  audience: StoringAudience,
  owners: readonly number[],
  keys: readonly string[],
): Promise<boolean[]> {
  const rows = await runStatement<{ locked: boolean }>(
    tx,
    `select pg_try_advisory_xact_lock(hashtextextended('${STORES[audience].lock}' || key, owner))
       as locked
     from unnest($1::bigint[], $2::text[]) with ordinality as wanted (owner, key, place)
     order by place`,
    [owners, keys],
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
  audience: StoringAudience,
  owners: readonly number[],
  keys: readonly string[],
): Promise<Map<number, StoredRow>> {
  const { table, owner } = STORES[audience];
  const rows = await runStatement<StoredRow & { place: number }>(
    tx,
    `with stored as (
       select place, ${table}.*, created_at < now() - $3::interval as expired
       from unnest($1::bigint[], $2::text[]) with ordinality as wanted (owner, key, place)
       join ${table} on ${table}.${owner} = wanted.owner and ${table}.key = wanted.key
     ), deleted as (
       delete from ${table} using stored
       where stored.expired and ${table}.${owner} = stored.${owner}
         and ${table}.key = stored.key
     )
     select place::int, method, request_digest as "requestDigest", response from stored
     where not expired`,
    [owners, keys, RETENTION],
  );
  return new Map(rows.map(({ place, ...row }) => [place - 1, row]));
}

function replay<C extends MethodCall>(methodCall: C, stored: StoredRow): Outcome<ResponseTo<C>> {
  const { method, request, call } = methodCall;
  const isSameRequest =
    stored.method === methodName(method) && stored.requestDigest === requestDigest(method, request);
  if (!isSameRequest) return { refused: keyReusedError() };
  const response = holdsSecret(method.output)
    ? openResponse(stored.response, sealedFor(methodCall))
    : stored.response;
  if (response === undefined) return { refused: sealedError() };
  call.replayed = true;
  return { result: fromBinary(method.output, response) as ResponseTo<C> };
}

function methodName({ parent, name }: DescMethodUnary): string {
  return `${parent.typeName}/${name}`;
}

/** SHA-256 of the request's canonical JSON, in which the order of map entries does not matter. */
function requestDigest(method: DescMethodUnary, request: Message): string {
  return hash("sha256", canonicalText(toJson(method.input, request)), "base64url");
}

function keyReusedError(): Refusal {
  return refuse("IDEMPOTENCY_KEY_REUSED");
}

function sealedError(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key came with another secret key before, and the answer, which holds a secret, is given to that key alone; use a new idempotency key.",
    { subject: "idempotency_key" },
  );
}

/**
 * Deletes the stored responses that have expired, by the database's clock.
 *
 * @returns how many it deleted
 */
export async function purgeStoredResponses(em: EntityManager): Promise<number> {
  let count = 0;
  for (const { table } of Object.values(STORES)) {
    count += await deleteOldest(em, table, "created_at", "now() - $1::interval", [RETENTION]);
  }
  return count;
}
