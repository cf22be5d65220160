import type { Command } from "commander";
import {
  AuditActorKind,
  AuditService,
  type AuditActor,
  type AuditChange,
  type AuditEntry,
} from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { callRpc } from "./command-line-call.ts";
import { wholeNumber } from "./options.ts";
import { commandGroup, subcommand, timeText } from "./subcommand.ts";

const { listAuditEntries: method } = AuditService.method;

/** `audit list [--limit N] [--after ID]` */
export function auditCommand(): Command {
  const list = subcommand<{ limit: number; after?: number }>(
    "list",
    "list the last administrative changes, newest first",
    [
      wholeNumber("--after <id>", "those after this entry, oldest first; 0 for the first", [
        0,
        Number.MAX_SAFE_INTEGER,
      ]),
      wholeNumber("--limit <count>", "how many", [1, MAX_PAGE_SIZE]).default(25),
    ],
    async (em, { limit: pageSize, after }) => {
      const fields = { pageSize, ...(after === undefined ? {} : { after: BigInt(after) }) };
      const { data } = await callRpc(em, method, fields);
      const lines = data.length === 0 ? ["No changes yet."] : data.map(asLine);
      return { json: { audit_entries: data.map(asJson) }, lines };
    },
  );
  return commandGroup("audit", "who changed what", list);
}

function asJson({ id, actor, action, subject, workspace, ...entry }: AuditEntry) {
  return {
    id: Number(id),
    created_at: timeText(entry.createdAt),
    actor: actorJson(actor!),
    action,
    subject,
    workspace: idJson(workspace),
    changes: entry.changes.map(changeJson),
    request_id: entry.requestId ?? null,
  };
}

function actorJson({ kind, name, operator }: AuditActor) {
  return { kind: AuditActorKind[kind].toLowerCase(), name, operator: idJson(operator) };
}

function changeJson({ field, before, after }: AuditChange) {
  return { field, before: before ?? null, after: after ?? null };
}

function idJson(id: bigint | undefined): number | null {
  return id === undefined ? null : Number(id);
}

function asLine(entry: AuditEntry): string {
  const { created_at: createdAt, actor, action, subject, changes } = asJson(entry);
  const changed = changes.map(
    ({ field, before, after }) => `${field}: ${before ?? "nothing"} -> ${after ?? "nothing"}`,
  );
  const who = `${actor.name} (${actor.kind})`;
  return [createdAt, who, action, subject, changed.join(", ")].join("  ").trimEnd();
}
