import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AuditActorKind,
  AuditEntrySchema,
  type AuditEntry as AuditEntryMessage,
} from "../../../gen/shipments/admin/v1/audit_service_pb.js";
import type { AuditActorName, AuditEntry } from "./audit-entry.entity.ts";

const ACTOR: Readonly<Record<AuditActorName, AuditActorKind>> = {
  operator: AuditActorKind.OPERATOR,
  command_line: AuditActorKind.COMMAND_LINE,
  api_key: AuditActorKind.API_KEY,
  service: AuditActorKind.SERVICE,
  person: AuditActorKind.PERSON,
};

/** An entry of the audit log as callers see it. */
export function auditEntryMessage(entry: AuditEntry): AuditEntryMessage {
  return create(AuditEntrySchema, {
    id: BigInt(entry.id),
    createdAt: timestampFromDate(entry.createdAt),
    actor: {
      kind: ACTOR[entry.actor as AuditActorName],
      name: entry.actorName,
      operator: messageId(entry.operatorId),
    },
    action: entry.action,
    subject: entry.subject,
    workspace: messageId(entry.workspaceId),
    changes: entry.changes.map(({ field, before, after }) => ({
      field,
      before: before ?? undefined,
      after: after ?? undefined,
    })),
    requestId: entry.requestId ?? undefined,
  });
}

function messageId(id: number | null | undefined): bigint | undefined {
  return id === null || id === undefined ? undefined : BigInt(id);
}
