import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/record-id.ts";
import { refuse } from "../../domain/refusal.ts";
import { Operator } from "./operator.entity.ts";

/**
 * An operator, revoked or not, by the id that a caller sent.
 *
 * @throws Refusal OPERATOR_NOT_FOUND
 */
export async function findOperator(em: EntityManager, sent: bigint | undefined): Promise<Operator> {
  const id = readRecordId(sent);
  const found = id === undefined ? null : await em.findOne(Operator, id);
  if (found === null) throw refuse("OPERATOR_NOT_FOUND", "There is no such operator.");
  return found;
}

/**
 * An operator that is to be changed, once no other transaction changes operators: what it may become
 * depends on the others.
 *
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED
 */
export async function findToChange(tx: EntityManager, sent: bigint | undefined): Promise<Operator> {
  await lockOperators(tx);
  const operator = await findOperator(tx, sent);
  if (operator.revokedAt) {
    throw refuse("OPERATOR_REVOKED", "The operator was revoked, and cannot be changed.", {
      subject: "operator",
    });
  }
  return operator;
}

/** Waits for other transactions that add or change operators, and makes later ones wait. */
export async function lockOperators(tx: EntityManager): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('operators', 0))");
}
