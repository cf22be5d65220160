import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { CallerKey } from "../../pipeline/call.ts";

export type AuditActorName = "operator" | "command_line" | "api_key" | "service" | "person" | "courier";

/** A changed property with its old and new values. Missing values are null. */
export interface Change {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * An administrative change, written in the same transaction. Rows are never changed or deleted. They have no foreign
 * keys, so they outlast the data they describe. Rows are committed in the order of `createdAt` and `id`.
 */
export const AuditEntry = defineEntity({
  name: "AuditEntry",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    createdAt: p.datetime(3),
    actor: p.text().$type<AuditActorName>(),
    actorName: p.text(),
    /** API key that made the change. null for other actors. */
    apiKey: p.json<CallerKey>().nullable(),
    operatorId: p.bigint("number").nullable(),
    /** Method name, such as `PublishTariff`. */
    action: p.text(),
    /** Kind and id of the changed resource, such as `tariff_version/7`. */
    subject: p.text(),
    workspaceId: p.bigint("number").nullable(),
    changes: p.json<readonly Change[]>(),
    requestId: p.text().nullable(),
  },
  indexes: [
    { name: "audit_entry_by_creation", properties: ["createdAt", "id"] },
    { name: "audit_entry_of_workspace", properties: ["workspaceId", "createdAt", "id"] },
    { name: "audit_entry_of_operator", properties: ["operatorId", "createdAt", "id"] },
    { name: "audit_entry_of_action", properties: ["action", "createdAt", "id"] },
    { name: "audit_entry_of_subject", properties: ["subject", "createdAt", "id"] },
  ],
  checks: [
    {
      name: "audit_entry_actor",
      expression: "actor in ('operator', 'command_line', 'api_key', 'service', 'person', 'courier')",
    },
  ],
});

export type AuditEntry = InferEntity<typeof AuditEntry>;
