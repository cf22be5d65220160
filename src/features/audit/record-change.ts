import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { RequiredEntityData } from "@mikro-orm/core";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { SlotService } from "../../../gen/shipments/admin/v1/slot_service_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyService } from "../../../gen/shipments/v1/api_key_service_pb.js";
import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { MemberService } from "../../../gen/shipments/v1/member_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement, type Statement } from "../../db/statement.ts";
import { type AnyCall, type Caller, type CallerKey, keyLabel } from "../../pipeline/call.ts";
import type { AuditEntry, AuditActorName, Change } from "./audit-entry.entity.ts";

/** Action for a sign-in with a link that another person created. Not a method name. */
const SIGN_IN = "SignIn";

/** Method of a change by a recipient, who has neither a key nor an account. */
export const CHANGE_INSTRUCTIONS = "recipient/ChangeInstructions";

/** Action for a courier who opened a link. Not a method name. */
const OPEN_LINK = "OpenCourierLink";

/**
 * Audited actions: those that change the platform or permissions in a workspace, that cannot be
 * undone, or that override a safeguard of a shipment.
 */
export const AUDIT_ACTIONS: readonly string[] = [
  OperatorService,
  WorkspaceAdminService,
  TariffService,
  SlotService,
  ApiKeyService,
  MemberService,
  PaymentConnectionService,
  WorkspaceService,
  CourierService,
]
  .flatMap(({ methods }) => methods)
  .filter(({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
  .map(({ name }) => name)
  .concat(
    CustomerService.method.mergeCustomers.name,
    ShipmentService.method.waiveVerification.name,
    ShipmentService.method.acceptUncountedPayment.name,
    SIGN_IN,
    actionOf(CHANGE_INSTRUCTIONS),
    OPEN_LINK,
  );

/** Kinds of subjects. The subject of an entry consists of a kind, a slash and an id. */
export const SUBJECT_KINDS = [
  "workspace",
  "api_key",
  "person",
  "customer",
  "courier",
  "operator",
  "tariff_draft",
  "tariff_version",
  "shipment",
  "slot",
] as const;

export interface RecordedChange {
  /** Kind and id of the changed resource, such as `workspace/12` or `operator/3`. */
  readonly subject: `${(typeof SUBJECT_KINDS)[number]}/${number | string}`;
  readonly workspaceId?: number;
  /** Must not contain secrets. */
  readonly changes: readonly Change[];
}

type NewEntry = Omit<RequiredEntityData<AuditEntry>, "createdAt">;

/** Audit entries of each transaction. They are written at its end. */
const recorded = new WeakMap<EntityManager, NewEntry[]>();

/** Adds an administrative change to the audit log in the transaction of the change. */
export function recordChange(tx: EntityManager, call: AnyCall, change: RecordedChange): void {
  add(tx, entryOf(call, change));
}

function actionOf(method: string): string {
  return method.slice(method.indexOf("/") + 1);
}

function entryOf({ received, caller, method }: AnyCall, { subject, workspaceId, changes }: RecordedChange): NewEntry {
  const actor = method === CHANGE_INSTRUCTIONS ? RECIPIENT : actorOf(caller);
  return {
    ...actor,
    action: actionOf(method),
    subject,
    workspaceId: workspaceId ?? null,
    changes,
    // Calls that were not made through the server have no log line with their request id.
    requestId: ["command_line", "service"].includes(actor.actor) ? null : received.headers.requestId,
  };
}

/**
 * Returns the statements that add a change to the audit log. They must be the last statements of a transaction on the
 * coordinator.
 */
export function auditStatements(call: AnyCall, change: RecordedChange): Statement[] {
  return [
    [LOCK, []],
    [INSERT, [JSON.stringify(entryOf(call, change))]],
  ];
}

/** A sign-in with a link that another person created and could have used themselves. */
export interface SignInByOthersLink {
  readonly personId: number;
  readonly email: string;
  /** Workspace to which the session is bound. null if it is not bound. */
  readonly workspaceId: number | null;
  /** Creator of the link, as formatted by `describeActor`. */
  readonly madeBy: string;
  readonly requestId: string;
}

/** Adds a sign-in and the creator of its link to the audit log, in the transaction of the sign-in. */
export function recordSignIn(tx: EntityManager, signIn: SignInByOthersLink): void {
  const { personId, email, workspaceId, madeBy, requestId } = signIn;
  add(tx, {
    actor: "person",
    actorName: email,
    operatorId: null,
    apiKey: null,
    action: SIGN_IN,
    subject: `person/${personId}`,
    workspaceId,
    changes: changesBetween({}, { link_made_by: madeBy }),
    requestId,
  });
}

/** Adds a courier's sign-in with a link to the audit log, in the transaction of the sign-in. */
export function recordCourierSignIn(
  tx: EntityManager,
  signIn: Readonly<Record<"courier" | "name" | "link" | "requestId", string>> & { readonly workspaceId: number },
): void {
  const { courier, name, workspaceId, link, requestId } = signIn;
  add(tx, {
    actor: "courier",
    actorName: name,
    operatorId: null,
    apiKey: null,
    action: OPEN_LINK,
    subject: `courier/${courier}`,
    workspaceId,
    changes: changesBetween({}, { link }),
    requestId,
  });
}

/** Returns the kind and name of the caller, such as `operator Olga`. */
export function describeActor({ caller }: AnyCall): string {
  const { actor, actorName } = actorOf(caller);
  return `${actor.replace("_", " ")} ${actorName}`;
}

function add(tx: EntityManager, entry: NewEntry): void {
  const entries = recorded.get(tx);
  if (entries === undefined) throw new Error("an audit log entry would not be written");
  entries.push(entry);
}

/**
 * Runs work in a transaction, then writes its audit entries. A lock serializes transactions from
 * this write to the commit, so that entries are committed in order and readers do not miss any. The
 * lock is acquired last, so it is held briefly and cannot cause deadlocks.
 */
export async function recordingChanges<T>(tx: EntityManager, work: () => Promise<T>): Promise<T> {
  const entries: NewEntry[] = [];
  recorded.set(tx, entries);
  const result = await work();
  await tx.flush();
  if (entries.length === 0) return result;
  await runStatement(tx, LOCK);
  for (const entry of entries) await runStatement(tx, INSERT, [JSON.stringify(entry)]);
  return result;
}

/** SQL for the time of an entry by the database's clock, which is never before the time of the last entry. */
const NEXT_TIME = `greatest(
  date_trunc('milliseconds', clock_timestamp()), (select max(created_at) from audit_entry))`;

const LOCK = "select pg_advisory_xact_lock(hashtextextended('audit log', 0))";

const INSERT = `
  insert into audit_entry (created_at, actor, actor_name, operator_id, api_key, action, subject,
    workspace_id, changes, request_id)
  select ${NEXT_TIME}, actor, "actorName", "operatorId", "apiKey", action, subject,
    "workspaceId", changes, "requestId"
  from json_to_record($1) as entry (actor text, "actorName" text, "operatorId" bigint, "apiKey" jsonb,
    action text, subject text, "workspaceId" bigint, changes jsonb, "requestId" text)`;

/** Returns the properties that differ, with their values as text. `undefined` and null count as equal. */
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

interface Actor {
  readonly actor: AuditActorName;
  readonly actorName: string;
  readonly operatorId: number | null;
  readonly apiKey: CallerKey | null;
}

const RECIPIENT: Actor = { actor: "service", actorName: "Recipient", operatorId: null, apiKey: null };

function actorOf(caller: Caller): Actor {
  if (caller.audience === "operator") {
    const { actor, name, operatorId = null } = caller;
    return { actor, actorName: name, operatorId, apiKey: null };
  }
  const key = caller.audience === "workspace" ? caller.key : undefined;
  if (key !== undefined) {
    return { actor: "api_key", actorName: keyLabel(key), operatorId: null, apiKey: key };
  }
  const person = caller.audience === "workspace" ? caller.member : caller;
  if (person === undefined) throw new Error("neither a key nor a person makes the change");
  return { actor: "person", actorName: person.email, operatorId: null, apiKey: null };
}
