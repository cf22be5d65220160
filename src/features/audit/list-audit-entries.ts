import { create } from "@bufbuild/protobuf";
import {
  ListAuditEntriesResponseSchema,
  type ListAuditEntriesRequestValid,
  type ListAuditEntriesResponse,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { isInstant, readInstant } from "../../domain/instant.ts";
import { endPage, readPage, type Page } from "../../domain/page-token.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { auditEntryMessage } from "./audit-entry-message.ts";
import { AuditEntry } from "./audit-entry.entity.ts";

/**
 * Lists administrative changes that pass all given filters, newest first. A page begins after the
 * sort key of the last entry of the page before, so that new entries shift nothing.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with these filters
 */
export async function listAuditEntries(
  request: ListAuditEntriesRequestValid,
  em: EntityManager,
): Promise<ListAuditEntriesResponse> {
  const filters = filtersOf(request);
  const page = readPage(request, { list: "audit entries", ...filters }, readPosition);
  const found = await entriesQuery(em.fork(), filters, page).getResult();
  const { rows, nextPageToken } = endPage(found, page, positionOf);
  return create(ListAuditEntriesResponseSchema, {
    data: rows.map(auditEntryMessage),
    nextPageToken,
  });
}

type Filters = ReturnType<typeof filtersOf>;

function filtersOf(request: ListAuditEntriesRequestValid) {
  const { operator, workspace, action, subject, createdAfter, createdBefore } = request;
  return {
    operatorId: idOf(operator),
    workspaceId: idOf(workspace),
    action,
    subject,
    createdAfter: readInstant(createdAfter, Math.floor),
    createdBefore: readInstant(createdBefore, Math.ceil),
  };
}

/** An id to look for; 0, which finds nothing, for what is no id. */
function idOf(sent: bigint | undefined): number | undefined {
  return sent === undefined ? undefined : (readRecordId(sent) ?? 0);
}

/** The sort key of the last entry of the page before. */
type Position = readonly [createdAtMs: number, id: number];

function readPosition([createdAtMs, id]: readonly unknown[]): Position | undefined {
  if (!isInstant(createdAtMs) || !Number.isSafeInteger(id)) return undefined;
  return [createdAtMs, id as number];
}

function positionOf({ createdAt, id }: Pick<AuditEntry, "createdAt" | "id">): Position {
  return [createdAt.getTime(), id];
}

function entriesQuery(em: EntityManager, filters: Filters, { after, limit }: Page<Position>) {
  const { createdAfter, createdBefore, ...equal } = filters;
  const query = em.createQueryBuilder(AuditEntry, "entry");
  const given = Object.entries(equal).filter(([, value]) => value !== undefined);
  query.where(Object.fromEntries(given));
  if (createdAfter !== undefined) query.andWhere({ createdAt: { $gt: new Date(createdAfter) } });
  if (createdBefore !== undefined) query.andWhere({ createdAt: { $lt: new Date(createdBefore) } });
  if (after !== undefined) {
    const [createdAtMs, id] = after;
    query.andWhere("(entry.created_at, entry.id) < (?, ?)", [new Date(createdAtMs), id]);
  }
  return query.orderBy({ createdAt: "desc", id: "desc" }).limit(limit);
}
