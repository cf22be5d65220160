import { raw } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Checks that no other operator that can call has an email, in whatever case. Once operators are
 * locked; the unique index behind it would be no refusal.
 *
 * @param except the operator whose email it is to be, unless it is new
 * @throws Refusal OPERATOR_EMAIL_TAKEN
 */
export async function assertEmailFree(
  tx: EntityManager,
  email: string,
  except?: number,
): Promise<void> {
  const others = except === undefined ? {} : { id: { $ne: except } };
  const withEmail = { [raw("lower(email)")]: email.toLowerCase(), revokedAt: null, ...others };
  if ((await tx.count(Operator, withEmail)) === 0) return;
  throw refuse("OPERATOR_EMAIL_TAKEN", "Another operator has this email.", { subject: "email" });
}

/** The refusal of a person without an email, by which they sign in. */
export function emailMissingError(): Refusal {
  return refuse("FIELD_INVALID", "email is required for a person.", { subject: "email" });
}
