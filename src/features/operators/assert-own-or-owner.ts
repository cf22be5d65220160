import { refuse } from "../../domain/refusal.ts";
import type { OperatorCaller } from "../../pipeline/call.ts";
import type { Operator } from "./operator.entity.ts";

/**
 * Checks that a caller may do for an operator what each may do for itself and owners for all.
 *
 * @param what what needs the right, up to "other operators"
 * @throws Refusal ROLE_INSUFFICIENT
 */
export function assertOwnOrOwner(
  { role, operatorId }: OperatorCaller,
  { id }: Operator,
  what: "Links for" | "Keys of",
): void {
  if (role === "owner" || operatorId === id) return;
  const text = `${what} other operators need the role owner; yours is ${role}.`;
  throw refuse("ROLE_INSUFFICIENT", text);
}
