import { hash } from "node:crypto";
import { type DescMethodUnary, fromBinary, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import type { Outcome } from "../../db/group-commit.ts";
import { loadByOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement, type Statement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { canonicalText } from "../../domain/canonical-text.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import type { AnyCall, Audience } from "../../pipeline/call.ts";
import type { MethodCall } from "../../pipeline/rpc.ts";
import { holdsSecret, openResponse, type SealedFor, sealResponse } from "./sealed-response.ts";
import type { StoredResponse } from "./stored-response.entity.ts";

/** Retention of stored responses, as a PostgreSQL interval. */
const RETENTION = "24 hours";

export type ResponseTo<C extends MethodCall> = MessageShape<C["method"]["output"]>;

type Outcomes<C extends MethodCall> = Map<C, Outcome<ResponseTo<C>>>;

/**
 * Locks the idempotency keys of calls until the transaction ends, and finds the responses stored for them.
 *
 * @param calls calls of one audience with distinct keys. Keys must differ because one transaction can lock a key
 *   twice
 * @returns a stored response or a Refusal (IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED) for each call that must
 *   not run. Other calls have no entry
 */
export async function replayStoredResponses<C extends MethodCall>(
  tx: EntityManager | Transaction,
  calls: readonly C[],
): Promise<Outcomes<C>> {
  const outcomes: Outcomes<C> = new Map();
  const keyed = calls.filter(({ call }) => call.idempotencyKey !== undefined);
  if (keyed.length === 0) return outcomes;
  const { audience } = keyed[0]!.call.caller;
  const locking = lockKeys(tx, audience, keyed);
  // In a pipeline, the statements run in the order in which they were sent, so there is no need to wait.
  if (!("send" in tx)) await locking;
  const reading = loadByOwner(keyed, ownerOfKey, (owner, owned) => readStoredResponses(tx, audience, owner, owned));
  const [locked, stored] = await Promise.all([locking, reading]);
  keyed.forEach((methodCall, i) => {
    const response = stored[i];
    if (!locked[i]) outcomes.set(methodCall, { refused: keyInUseError() });
    else if (response !== undefined) outcomes.set(methodCall, replay(methodCall, response));
  });
  return outcomes;
}

/**
 * Returns the statement that stores a response, for the transaction of the call's effect. Returns
 * `undefined` if the call has no idempotency key.
 */
export function storingResponse<C extends MethodCall>(methodCall: C, response: ResponseTo<C>): Statement | undefined {
  const { method, call } = methodCall;
  if (call.idempotencyKey === undefined) return undefined;
  const { table, owner } = storeOf(call.caller.audience);
  return [
    `insert into ${table} (${owner}, key, method, request_digest, response, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      ownerOf(call),
      call.idempotencyKey,
      methodName(method),
      requestDigest(methodCall),
      bytesToStore(methodCall, response),
      new Date().toISOString(),
    ],
  ];
}

/**
 * Returns a response in binary form. Seals it if it contains a secret, because secrets must not be
 * stored in plain text.
 */
function bytesToStore<C extends MethodCall>(methodCall: C, response: ResponseTo<C>): Buffer {
  const { output } = methodCall.method;
  const bytes = Buffer.from(toBinary(output, response));
  return holdsSecret(output) ? sealResponse(bytes, sealedFor(methodCall)) : bytes;
}

function sealedFor(methodCall: MethodCall): SealedFor {
  const { method, call } = methodCall;
  const { idempotencyKey } = call;
  const { credential } = call.received;
  if (credential === undefined || idempotencyKey === undefined) throw new Error("the call has no key");
  const digest = requestDigest(methodCall);
  return { secretKey: credential, idempotencyKey, request: `${methodName(method)} ${digest}` };
}

/** Table and lock names for the responses to an audience. */
interface Store {
  readonly table: string;
  /** Column with the owner of the idempotency key: the workspace or the operator. */
  readonly owner: string;
  readonly lock: string;
}

/**
 * Audiences whose calls can have idempotency keys. The calls of people need none, because repeating
 * them has no further effect.
 */
type StoringAudience = Exclude<Audience, "person">;

const STORES: Readonly<Record<StoringAudience, Store>> = {
  workspace: { table: "kept_answer", owner: "workspace_id", lock: "idempotency " },
  operator: { table: "operator_stored_response", owner: "operator", lock: "operator idempotency " },
};

function storeOf(audience: Audience): Store {
  if (audience === "person") throw new Error("people have no idempotency keys");
  return STORES[audience];
}

function ownerOf({ caller }: AnyCall): number {
  if (caller.audience === "workspace") return caller.workspaceId;
  const owner = caller.audience === "operator" ? caller.operatorId : undefined;
  if (owner === undefined) throw new Error(`${caller.account} has no idempotency keys`);
  return owner;
}

export function keyInUseError(): Refusal {
  return refuse("IDEMPOTENCY_KEY_IN_USE", { retryAfterSeconds: 1 });
}

const ownerOfKey = ({ call }: MethodCall) => ownerOf(call);
const keyOf = ({ call }: MethodCall) => call.idempotencyKey!;

/** Tries to lock each key. Does not wait for transactions that hold a lock. */
async function lockKeys(
  tx: EntityManager | Transaction,
  audience: Audience,
  keyed: readonly MethodCall[],
): Promise<boolean[]> {
  const rows = await runStatement<{ locked: boolean }>(
    tx,
    `select pg_try_advisory_xact_lock(hashtextextended('${storeOf(audience).lock}' || key, owner))
       as locked
     from unnest($1::bigint[], $2::text[]) with ordinality as wanted (owner, key, ordinality)
     order by ordinality`,
    [keyed.map(ownerOfKey), keyed.map(keyOf)],
  );
  return rows.map(({ locked }) => locked);
}

type StoredRow = Pick<StoredResponse, "method" | "requestDigest" | "response">;

/**
 * Returns the responses stored for an owner's keys, in order, and deletes expired responses. Must be a separate
 * statement after the keys are locked, so that its snapshot includes the commit of a key's previous holder.
 */
async function readStoredResponses(
  tx: EntityManager | Transaction,
  audience: Audience,
  ownerId: number,
  keyed: readonly MethodCall[],
): Promise<(StoredRow | undefined)[]> {
  const { table, owner } = storeOf(audience);
  const keys = keyed.map(keyOf);
  const rows = await runStatement<StoredRow & { key: string; expired: boolean }>(
    tx,
    `select key, method, request_digest as "requestDigest", response,
       created_at < now() - $3::interval as expired
     from ${table} where ${owner} = $1 and key = any ($2)`,
    [ownerId, keys, RETENTION],
  );
  const [expired, valid] = [rows.filter((row) => row.expired), rows.filter((row) => !row.expired)];
  if (expired.length > 0) {
    // Checks the age again, because another call may have stored a response for the key in the meantime.
    const sql = `delete from ${table}
      where ${owner} = $1 and key = any ($2) and created_at < now() - $3::interval`;
    await runStatement(tx, sql, [ownerId, expired.map(({ key }) => key), RETENTION]);
  }
  const stored = new Map(valid.map((row) => [row.key, row]));
  return keys.map((key) => stored.get(key));
}

function replay<C extends MethodCall>(methodCall: C, stored: StoredRow): Outcome<ResponseTo<C>> {
  const { method, call } = methodCall;
  const isSameRequest = stored.method === methodName(method) && stored.requestDigest === requestDigest(methodCall);
  if (!isSameRequest) return { refused: keyReusedError() };
  const response = holdsSecret(method.output) ? openResponse(stored.response, sealedFor(methodCall)) : stored.response;
  if (response === undefined) return { refused: sealedError() };
  call.replayed = true;
  return { result: fromBinary(method.output, response) as ResponseTo<C> };
}

function methodName({ parent, name }: DescMethodUnary): string {
  return `${parent.typeName}/${name}`;
}

/**
 * Returns the SHA-256 of a request's canonical JSON, which does not depend on the order of map entries. Includes
 * whether the caller is a courier, because couriers get fewer fields in responses.
 */
function requestDigest({ method, request, call: { caller } }: MethodCall): string {
  const isCourier = caller.audience === "workspace" && caller.keyScope === "courier";
  const text = canonicalText(toJson(method.input, request)) + (isCourier ? ` courier${caller.courier?.id ?? ""}` : "");
  return hash("sha256", text, "base64url");
}

function keyReusedError(): Refusal {
  return refuse("IDEMPOTENCY_KEY_REUSED");
}

function sealedError(): Refusal {
  return refuse(
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotency key was used with another API key. The response contains a secret and is returned only to that API key. Use a new idempotency key.",
    { subject: "idempotency_key" },
  );
}

/** Deletes stored responses that have expired by the database's clock. Returns the number of deleted rows. */
export async function purgeStoredResponses(em: EntityManager): Promise<number> {
  let count = 0;
  for (const { table } of Object.values(STORES)) {
    count += await deleteOldest(em, table, "created_at", "now() - $1::interval", [RETENTION]);
  }
  return count;
}
