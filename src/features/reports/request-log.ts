import { Code } from "@connectrpc/connect";
import { byOwner } from "../../db/by-owner.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runForEach } from "../../db/for-each-workspace.ts";
import { deleteOldest, allocateIds } from "../../db/statement.ts";
import { codeName, keyLabel, type ReceivedCall, type WorkspaceCaller } from "../../pipeline/call.ts";
import type { RequestOutcome } from "./api-request.entity.ts";
import { pathOf, storableText } from "./request-path.ts";

/** Maximum number of unwritten requests in memory, in total and per workspace. */
const MAX_WAITING = 5_000;
const MAX_OF_WORKSPACE = 200;

/** Number of requests kept per workspace. A process deletes older requests after every `TRIM_EVERY` writes. */
const MAX_KEPT = 10_000;
const TRIM_EVERY = 1_000;
/** Maximum number of workspaces whose writes a process counts for trimming. */
const MAX_COUNTED = 50_000;

/** Retention of requests, in days. */
const RETENTION_DAYS = 7;

const MAX_MESSAGE = 500;

type WaitingRequest = ReturnType<typeof waitingRequest>;

/** Log that collects the workspaces' requests in memory until they are written. */
export type RequestLog = ReturnType<typeof createRequestLog>;

/** @param onDropped called with the number of dropped requests */
export function createRequestLog(onDropped: (count: number) => void) {
  let waiting: WaitingRequest[] = [];
  const ofWorkspace = new Map<number, number>();

  return {
    /** Records a completed request of a workspace if it was a write or failed. */
    record(call: ReceivedCall, httpStatus: number): void {
      const { caller, code = Code.Canceled, rateLimit } = call;
      if (caller?.audience !== "workspace") return;
      // Most cancelled reads come from users leaving a page. Callers that poll a courier's position often find none.
      const isNotable = code !== 0 && code !== Code.Canceled && call.refusal?.reason !== "PLACE_NOT_FOUND";
      if (!isNotable && rateLimit?.limitClass !== "write") return;
      const { workspaceId } = caller;
      const count = ofWorkspace.get(workspaceId) ?? 0;
      if (count >= MAX_OF_WORKSPACE || waiting.length >= MAX_WAITING) return onDropped(1);
      ofWorkspace.set(workspaceId, count + 1);
      waiting.push(waitingRequest(call, caller, httpStatus));
    },
    drain(): readonly WaitingRequest[] {
      const batch = waiting;
      waiting = [];
      ofWorkspace.clear();
      return batch;
    },
    onDropped,
    /** Number of requests that this process has written per workspace since the last trim. */
    untrimmed: new Map<number, number>(),
  };
}

function waitingRequest(
  { code = Code.Canceled, method = "", headers, refusal, decoded, startedMs }: ReceivedCall,
  { workspaceId: workspace, key, member }: WorkspaceCaller,
  httpStatus: number,
) {
  const durationMs = Math.round(performance.now() - startedMs);
  return {
    workspace,
    startedMs: Date.now() - durationMs,
    method: method.slice(method.indexOf("/") + 1),
    path: decoded && pathOf(decoded),
    outcome: outcomeOf(code),
    code: codeName(code),
    httpStatus,
    durationMs,
    requestId: headers.requestId,
    reason: refusal?.reason,
    message: refusal && storableText(refusal.message, MAX_MESSAGE),
    caller: member?.email ?? (key && keyLabel(key)) ?? "",
  };
}

const FAILURES: ReadonlySet<number> = new Set([
  Code.Canceled,
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

function outcomeOf(code: Code | 0): RequestOutcome {
  if (code === 0) return "succeeded";
  return FAILURES.has(code) ? "failed" : "refused";
}

/**
 * Inserts requests with preallocated ids. Each node has its own id sequence, and a workspace can move between nodes.
 */
const WRITE = `
  insert into api_request (workspace_id, id, started_at, method, path, outcome, code, http_status, duration_ms,
    request_id, reason, message, caller)
  select $1, id, to_timestamp("startedMs" / 1000), method, path, outcome, code, "httpStatus", "durationMs",
    "requestId", reason, message, caller
  from json_to_recordset($2) as made (id bigint, "startedMs" float8, method text, path text, outcome text, code text,
    "httpStatus" int, "durationMs" int, "requestId" text, reason text, message text, caller text)`;

const TRIM = `
  delete from api_request where workspace_id = $1 and id <= (
    select id from api_request where workspace_id = $1 order by id desc offset $2 limit 1)`;

/**
 * Writes the collected requests with one statement per workspace and without waiting for the disk.
 * Drops requests that cannot be written, so that memory does not grow during a database outage.
 *
 * @throws errors of the database
 */
export async function writeRequests(em: EntityManager, log: RequestLog): Promise<void> {
  const owned = byOwner(log.drain(), ({ workspace }) => workspace);
  try {
    const count = owned.reduce((sum, [, { length }]) => sum + length, 0);
    const ids = (await allocateIds(em, "api_request_id_seq", count)).values();
    const values = owned.map(([workspace, own]) => {
      const made = own.map((request) => ({ id: ids.next().value, ...request }));
      return [workspace, JSON.stringify(made)];
    });
    const written = await runForEach(em, WRITE, values, { durable: false });
    for (const [i, [, own]] of owned.entries()) {
      if (written[i] === undefined) log.onDropped(own.length);
    }
  } catch (error) {
    for (const [, own] of owned) log.onDropped(own.length);
    throw error;
  }
  const { untrimmed } = log;
  for (const [workspace, { length }] of owned) {
    untrimmed.set(workspace, (untrimmed.get(workspace) ?? 0) + length);
  }
  const full = [...untrimmed].filter(([, count]) => count >= TRIM_EVERY);
  for (const [workspace] of full) untrimmed.delete(workspace);
  if (untrimmed.size > MAX_COUNTED) untrimmed.clear();
  const trims = full.map(([workspace]) => [workspace, MAX_KEPT]);
  await runForEach(em, TRIM, trims, { durable: false });
}

/** Deletes requests after their retention. Returns the number of deleted rows. */
export function purgeRequests(em: EntityManager): Promise<number> {
  const before = "now() - make_interval(days => $1)";
  return deleteOldest(em, "api_request", "started_at", before, [RETENTION_DAYS]);
}
