import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { RequiredEntityData } from "@mikro-orm/core";
import { sql } from "@mikro-orm/postgresql";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { AnyCall, Caller } from "../../pipeline/call.ts";
import { AuditEntry, type AuditActorName, type Change } from "./audit-entry.entity.ts";

/** The action of somebody who signs in by a link that somebody else has made. It is no method. */
const SIGN_IN = "SignIn";

/** What changes the platform, or who may act for a workspace, or cannot be undone. */
export const AUDIT_ACTIONS: readonly string[] = [
  OperatorService,
  WorkspaceAdminService,
  TariffService,
  ApiKeyService,
  MemberService,
  PaymentConnectionService,
  WorkspaceService,
]
  .flatMap(({ methods }) => methods)
  .filter(({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
  .map(({ name }) => name)
  .concat(CustomerService.method.mergeCustomers.name, SIGN_IN);

/** What can be changed: the subject of an entry is one of these, a slash and its id. */
export const SUBJECT_KINDS = [
  "workspace",
  "api_key",
  "person",
  "customer",
  "operator",
  "tariff_draft",
  "tariff_version",
] as const;

export interface RecordedChange {
  /** `workspace/12`, `tariff_version/7`, `operator/3` */
  readonly subject: `${(typeof SUBJECT_KINDS)[number]}/${number | string}`;
  /** The workspace that it concerns, if it concerns one. */
  readonly workspaceId?: number;
  /** Never a secret. */
  readonly changes: readonly Change[];
}

/** An entry before it has its time. */
type NewEntry = Omit<RequiredEntityData<AuditEntry>, "createdAt">;

/** The entries of a transaction, which are written last. */
const recorded = new WeakMap<EntityManager, NewEntry[]>();

/** Adds an administrative change to the audit log, in the transaction of the change. */
export function recordChange(
  tx: EntityManager,
  { received, caller, method }: AnyCall,
  { subject, workspaceId, changes }: RecordedChange,
): void {
  const actor = actorOf(caller);
  add(tx, {
    ...actor,
    action: method.slice(method.indexOf("/") + 1),
    subject,
    workspaceId: workspaceId ?? null,
    changes,
    // Calls that came in by no server have no log line of that id.
    requestId: ["command_line", "service"].includes(actor.actor)
      ? null
      : received.headers.requestId,
  });
}

/** Somebody who has signed in by a link that somebody else had made, and could have used. */
export interface SignInByOthersLink {
  readonly personId: number;
  readonly email: string;
  /** The only workspace that the session acts in; null for all, and the platform. */
  readonly workspaceId: number | null;
  /** As `describeActor` tells it. */
  readonly madeBy: string;
  readonly requestId: string;
}

/** Adds a sign-in to the audit log, with who has made the link, in the transaction of the sign-in. */
export function recordSignIn(tx: EntityManager, signIn: SignInByOthersLink): void {
  const { personId, email, workspaceId, madeBy, requestId } = signIn;
  add(tx, {
    actor: "person",
    actorName: email,
    operatorId: null,
    action: SIGN_IN,
    subject: `person/${personId}`,
    workspaceId,
    changes: changesBetween({}, { link_made_by: madeBy }),
    requestId,
  });
}

/** Who makes a call, in words: `operator Olga`. */
export function describeActor({ caller }: AnyCall): string {
  const { actor, actorName } = actorOf(caller);
  return `${actor.replace("_", " ")} ${actorName}`;
}

function add(tx: EntityManager, entry: NewEntry): void {
  const entries = recorded.get(tx);
  if (entries === undefined) throw new Error("an entry of the audit log would not be written");
  entries.push(entry);
}

/**
 * Runs work in a transaction and then writes what it has recorded, one transaction at a time from here to its commit:
 * so entries can be followed, since none is committed before one that was placed earlier. Nothing else is waited for
 * after the lock, so that it is held for short and no two transactions wait for each other.
 */
export async function recordingChanges<T>(tx: EntityManager, work: () => Promise<T>): Promise<T> {
  const entries: NewEntry[] = [];
  recorded.set(tx, entries);
  const result = await work();
  await tx.flush();
  if (entries.length === 0) return result;
  await runStatement(tx, "select pg_advisory_xact_lock(hashtextextended('audit log', 0))");
  for (const entry of entries) await tx.insert(AuditEntry, { ...entry, createdAt: NEXT_TIME });
  return result;
}

/** By the database's clock, which is the same for every replica, but never before the last entry. */
const NEXT_TIME = sql`greatest(
  date_trunc('milliseconds', clock_timestamp()), (select max(created_at) from audit_entry))`;

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
