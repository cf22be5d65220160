import { create } from "@bufbuild/protobuf";
import {
  ListAuditEntriesResponseSchema,
  type ListAuditEntriesRequestValid,
  type ListAuditEntriesResponse,
  AuditEntrySchema,
  type AuditEntry as AuditEntryMessage,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readInOrder } from "../../db/transaction.ts";
import { isInstant, toCreationRange } from "../../domain/instant.ts";
import { compileToMessage } from "../../json/records.ts";
import { endPage, readPage, type Page } from "../../pipeline/page.ts";
import { readRecordId } from "../../db/columns.ts";
import { fieldViolation, invalidField, refuseAny, type Violation } from "../../domain/refusal.ts";
import { AUDIT_ACTIONS, SUBJECT_KINDS } from "./record-change.ts";
import { AuditEntry } from "./audit-entry.entity.ts";

/**
 * Lists entries, newest first, or oldest first after a given entry. A page token contains the sort
 * key of the last entry, so new entries do not shift pages.
 */
export async function listAuditEntries(
  request: ListAuditEntriesRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<ListAuditEntriesResponse> {
  const reading = em.fork();
  const filters = filtersOf(request);
  const { after } = request;
  const page = readPage(request, { list: "audit entries", ...filters, after: after?.toString() }, readPosition);
  const start = page.after ?? (after ? await positionOfEntry(reading, after) : undefined);
  const order = after === undefined ? "desc" : "asc";
  const found = await readInOrder(em, (tx) => entriesQuery(tx, filters, { ...page, after: start }, order).getResult());
  const { rows, nextPageToken } = endPage(found, page, positionOf);
  const names = await loadSubjectNames(reading, rows);
  return create(ListAuditEntriesResponseSchema, {
    data: rows.map((entry) => auditEntryMessage(entry, names.get(entry.subject) ?? names.get(courierKey(entry)))),
    nextPageToken,
  });
}

const SUBJECT_NAMES = `
  select 'person/' || id as subject, email as name from person where id = any($1::bigint[])
  union all
  select 'operator/' || id, name from operator where id = any($2::bigint[])
  union all
  select 'api_key/' || id, coalesce(name, last4) from api_key where id = any($3::text[])`;

const COURIER_NAMES = `
  select workspace_id || '/courier/' || id as subject, name from courier
  where workspace_id = any($1::bigint[]) and id = any($2::text[])`;

/**
 * Returns the key of a courier's name. Includes the workspace, because courier ids are unique only within a workspace.
 */
function courierKey({ workspaceId, subject }: AuditEntry): string {
  return `${workspaceId}/${subject}`;
}

/** Loads the current names of people, operators and API keys by subject, and those of couriers by `courierKey`. */
async function loadSubjectNames(
  em: EntityManager,
  entries: readonly AuditEntry[],
): Promise<ReadonlyMap<string, string>> {
  const load = async (sql: string, ...lists: (readonly unknown[])[]) => {
    if (lists.flat().length === 0) return [];
    const rows = await runStatement<{ subject: string; name: string }>(em, sql, lists);
    return rows.map(({ subject, name }) => [subject, name] as const);
  };
  const of = (kind: string) => entries.filter(({ subject }) => subject.startsWith(`${kind}/`));
  const idsOf = (kind: string) => [...new Set(of(kind).map(({ subject }) => subject.slice(kind.length + 1)))];
  const workspaces = [...new Set(of("courier").map(({ workspaceId }) => workspaceId))];
  const names = await Promise.all([
    load(SUBJECT_NAMES, idsOf("person"), idsOf("operator"), idsOf("api_key")),
    load(COURIER_NAMES, workspaces, idsOf("courier")),
  ]);
  return new Map(names.flat());
}

type Filters = ReturnType<typeof filtersOf>;

function filtersOf(request: ListAuditEntriesRequestValid) {
  const { operator, workspace, action, subject } = request;
  refuseAny([...unknownAction(action), ...unknownSubject(subject)]);
  return {
    operatorId: idOf(operator),
    workspaceId: idOf(workspace),
    action,
    subject,
    ...toCreationRange(request),
  };
}

/** Parses an id in a request. Returns 0, which matches no entry, if it is invalid. */
function idOf(sent: bigint | undefined): number | undefined {
  return sent === undefined ? undefined : (readRecordId(sent) ?? 0);
}

function unknownAction(action: string | undefined): Violation[] {
  if (action === undefined || AUDIT_ACTIONS.includes(action)) return [];
  return [fieldViolation("action", `must be one of ${AUDIT_ACTIONS.join(", ")}.`)];
}

function unknownSubject(subject: string | undefined): Violation[] {
  const [kind, id] = subject?.split("/") ?? [];
  if (subject === undefined || (id && (SUBJECT_KINDS as readonly string[]).includes(kind!))) return [];
  const kinds = SUBJECT_KINDS.join(", ");
  return [fieldViolation("subject", `must be one of ${kinds}, a slash and an id, such as workspace/12.`)];
}

async function positionOfEntry(em: EntityManager, sent: bigint): Promise<Position> {
  const entry = await em.findOne(AuditEntry, readRecordId(sent) ?? 0);
  if (entry !== null) return positionOf(entry);
  throw invalidField("after", "must be the id of an audit entry, or 0 to start with the first entry.");
}

type Position = readonly [createdAtMs: number, id: number];

function readPosition([createdAtMs, id]: readonly unknown[]): Position | undefined {
  if (!isInstant(createdAtMs) || !Number.isSafeInteger(id)) return undefined;
  return [createdAtMs, id as number];
}

function positionOf({ createdAt, id }: Pick<AuditEntry, "createdAt" | "id">): Position {
  return [createdAt.getTime(), id];
}

function entriesQuery(em: EntityManager, filters: Filters, { after, limit }: Page<Position>, order: "asc" | "desc") {
  const { createdAfter, createdBefore, ...equal } = filters;
  const query = em.createQueryBuilder(AuditEntry, "entry");
  const conditions = Object.entries(equal).filter(([, value]) => value !== undefined);
  query.where(Object.fromEntries(conditions));
  if (createdAfter !== undefined) query.andWhere({ createdAt: { $gt: new Date(createdAfter) } });
  if (createdBefore !== undefined) query.andWhere({ createdAt: { $lt: new Date(createdBefore) } });
  if (after !== undefined) {
    const [createdAtMs, id] = after;
    const isNext = order === "asc" ? ">" : "<";
    query.andWhere(`(entry.created_at, entry.id) ${isNext} (?, ?)`, [new Date(createdAtMs), id]);
  }
  return query.orderBy({ createdAt: order, id: order }).limit(limit);
}

const toMessage = compileToMessage(AuditEntrySchema);

function auditEntryMessage(entry: AuditEntry, subjectName?: string): AuditEntryMessage {
  const { actor, actorName, operatorId, apiKey } = entry;
  return toMessage({
    ...entry,
    actor: { kind: actor, name: actorName, operator: operatorId, apiKey },
    workspace: entry.workspaceId,
    subjectName,
  });
}
