/** What an operator may do, from the least to the most; each may do all that those before it may. */
export const OPERATOR_ROLES = ["viewer", "operator", "owner"] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What a member of a workspace may do, in the same order. */
export const MEMBER_ROLES = ["viewer", "member", "admin"] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What a workspace's key may be used for: to read and quote, for what couriers report, or for all that there is. */
export const KEY_SCOPES = ["read_only", "courier", "full"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether a role may do what needs another, of roles from the least to the most. */
export function includesRole<Role>(roles: readonly Role[], role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
