import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command, Option } from "commander";
import {
  AuditActorKind,
  ListAuditEntriesRequestSchema,
  type AuditActor,
  type AuditChange,
  type AuditEntry,
} from "../../gen/shipments/admin/v1/audit_service_pb.js";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { listAuditEntries } from "../features/audit/list-audit-entries.ts";
import { jsonOption, readWholeNumber } from "./options.ts";
import { readRequest } from "./read-request.ts";
import { runCommand } from "./run-command.ts";

/** `audit list [--limit N] [--after ID]` */
export function auditCommand(): Command {
  const list = new Command("list")
    .description("list the last administrative changes, newest first")
    .addOption(
      new Option("--after <id>", "those after this entry, oldest first; 0 for the first").argParser(
        (text) => readWholeNumber(text, 0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      new Option("--limit <count>", "how many")
        .argParser((text) => readWholeNumber(text, 1, MAX_PAGE_SIZE))
        .default(25),
    )
    .addOption(jsonOption())
    .action(({ limit: pageSize, after, json }: { limit: number; after?: number; json: boolean }) =>
      runCommand(json, async (em) => {
        const following = after === undefined ? {} : { after: BigInt(after) };
        const request = readRequest(ListAuditEntriesRequestSchema, { pageSize, ...following });
        const { data } = await listAuditEntries(request, em);
        const lines = data.length === 0 ? ["No changes yet."] : data.map(asLine);
        return { json: { audit_entries: data.map(asJson) }, lines };
      }),
    );
  return new Command("audit").description("who changed what").addCommand(list);
}

function asJson({ id, actor, action, subject, workspace, ...entry }: AuditEntry) {
  return {
    id: Number(id),
    created_at: timestampDate(entry.createdAt!).toISOString(),
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
