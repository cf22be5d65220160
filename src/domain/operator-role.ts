/** What an operator may do, from the least to the most; each may do all that those before it may. */
export const OPERATOR_ROLES = ["viewer", "operator", "owner"] as const;

/** What an operator may do. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Whether a role may do what needs the other. */
export function includesRole(role: OperatorRole, needed: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);
}
