import { raw } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import { invalidField, type Refusal, refuse } from "../../domain/refusal.ts";
import type { OperatorCall, OperatorCaller } from "../../pipeline/call.ts";
import type { Change } from "../audit/audit-entry.entity.ts";
import { recordChange } from "../audit/record-change.ts";
import { Operator, type OperatorKindName } from "./operator.entity.ts";
import {
  OperatorKindSchema,
  OperatorRoleSchema,
  OperatorSchema,
  type Operator as OperatorMessage,
} from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { OperatorRole } from "../../domain/roles.ts";
import { compileEnumName, compileToMessage } from "../../json/records.ts";
import type { OperatorKey } from "./operator-key.entity.ts";
import { loadWorkingKeys } from "./operator-keys.ts";

/**
 * Changes an operator while holding the lock on operators, and records the changes that `change` returns.
 *
 * @param change returns the changes, and further fields of the response
 * @returns the changed operator and the further fields
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, and the refusals of `change`
 */
export async function changeOperator<Rest extends object>(
  tx: EntityManager,
  call: OperatorCall,
  sent: bigint,
  change: (operator: Operator) => Promise<Rest & { readonly changes?: readonly Change[] }>,
): Promise<Omit<Rest, "changes"> & { readonly data: OperatorMessage }> {
  const operator = await lockOperators(tx, () => findOperator(tx, sent));
  const { id, revokedAt } = operator;
  if (revokedAt) throw refuse("OPERATOR_REVOKED");
  const { changes, ...rest } = await change(operator);
  if (changes !== undefined) recordChange(tx, call, { subject: `operator/${id}`, changes });
  return { ...rest, data: await loadOperatorMessage(tx, id) };
}

/**
 * Finds an operator. Revoked operators are included.
 *
 * @throws Refusal OPERATOR_NOT_FOUND
 */
export async function findOperator(em: EntityManager, sent: bigint): Promise<Operator> {
  const id = readRecordId(sent);
  const found = id === undefined ? null : await em.findOne(Operator, id);
  if (found === null) throw refuse("OPERATOR_NOT_FOUND");
  return found;
}

/** Locks operators: serializes transactions that create or change operators and their keys. */
export function lockOperators<T>(tx: EntityManager, load: () => Promise<T>): Promise<T> {
  return lockAndLoad(tx, "operators", 0, load);
}

/**
 * Checks that the caller is the given operator or an owner.
 *
 * @param what beginning of the message, completed by "other operators"
 * @throws Refusal ROLE_INSUFFICIENT
 */
export function assertSelfOrOwner(
  { role, operatorId }: OperatorCaller,
  { id }: Operator,
  what: "create sign-in links for" | "manage keys of",
): void {
  if (role === "owner" || operatorId === id) return;
  const text = `Only owners can ${what} other operators. Your role is ${role}.`;
  throw refuse("ROLE_INSUFFICIENT", text);
}

/**
 * Checks that another owner remains if the operator is an owner. Requires the lock on operators, so
 * that two owners cannot leave at the same time.
 *
 * @throws Refusal OPERATOR_LAST_OWNER
 */
export async function assertAnotherOwner(
  tx: EntityManager,
  { id, role }: Pick<Operator, "id" | "role">,
): Promise<void> {
  if (role !== "owner") return;
  const others = { role: "owner", revokedAt: null, id: { $ne: id } } as const;
  if ((await tx.count(Operator, others)) > 0) return;
  throw refuse("OPERATOR_LAST_OWNER");
}

/**
 * Checks that no other active operator has an email, ignoring case. Requires the lock on operators, because a violation
 * of the unique index would not become a refusal.
 *
 * @param except the operator that gets the email, `undefined` for a new operator
 * @throws Refusal OPERATOR_EMAIL_TAKEN
 */
export async function assertEmailFree(tx: EntityManager, email: string, except?: number): Promise<void> {
  const others = except === undefined ? {} : { id: { $ne: except } };
  const withEmail = { [raw("lower(email)")]: email.toLowerCase(), revokedAt: null, ...others };
  if ((await tx.count(Operator, withEmail)) === 0) return;
  throw refuse("OPERATOR_EMAIL_TAKEN");
}

export function emailMissingError(): Refusal {
  return invalidField("email", "is required for a person.");
}

export const kindOf = compileEnumName<OperatorKindName>(OperatorKindSchema);
export const roleOf = compileEnumName<OperatorRole>(OperatorRoleSchema);

const toMessage = compileToMessage(OperatorSchema);

export async function loadOperatorMessage(em: EntityManager, id: number): Promise<OperatorMessage> {
  const operator = await em.findOneOrFail(Operator, id, { refresh: true });
  return operatorMessage(operator, await loadWorkingKeys(em, id));
}

/**
 * Returns an operator as an API message.
 *
 * @param keys active keys, oldest first
 */
export function operatorMessage(operator: Operator, keys: readonly OperatorKey[]) {
  return toMessage({ ...operator, keys });
}
