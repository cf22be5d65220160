import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import type { AnyCall, Caller } from "../../pipeline/call.ts";
import { AuditEntry, type AuditActorName, type Change } from "./audit-entry.entity.ts";

/** What a call has changed. */
export interface RecordedChange {
  /** `workspace/12`, `tariff_version/7`, `operator/3` */
  readonly subject: string;
  /** The workspace that it concerns, if it concerns one. */
  readonly workspaceId?: number;
  /** Never a secret. */
  readonly changes: readonly Change[];
}

/** Writes an administrative change to the audit log, in the transaction of the change. */
export async function recordChange(
  tx: EntityManager,
  { caller, method, headers }: AnyCall,
  { subject, workspaceId, changes }: RecordedChange,
): Promise<void> {
  const actor = actorOf(caller);
  await tx.insert(AuditEntry, {
    // The database's clock, which is the same for every replica.
    createdAt: sql`now()`,
    ...actor,
    action: method!.slice(method!.indexOf("/") + 1),
    subject,
    workspaceId: workspaceId ?? null,
    changes,
    // Calls that came in by no server have no log line of that id.
    requestId: ["command_line", "service"].includes(actor.actor) ? null : headers.requestId,
  });
}

/** The properties that differ, each as text; undefined and null stand for nothing. */
export function changesBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Change[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields.flatMap((field) => {
    const change = { field, before: textOf(before[field]), after: textOf(after[field]) };
    return change.before === change.after ? [] : [change];
  });
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" ? value : JSON.stringify(value);
}

function actorOf(caller: Caller): {
  actor: AuditActorName;
  actorName: string;
  operatorId: number | null;
} {
  if (caller.audience === "person") {
    return { actor: "person", actorName: caller.email, operatorId: null };
  }
  if (caller.audience === "workspace") {
    const { member, keyName } = caller;
    return member === undefined
      ? { actor: "api_key", actorName: keyName!, operatorId: null }
      : { actor: "person", actorName: member.email, operatorId: null };
  }
  const { actor, name, operatorId = null } = caller;
  return { actor, actorName: name, operatorId };
}
