/** Operator roles from least to most privileged. Each includes the permissions of the roles before it. */
export const OPERATOR_ROLES = ["viewer", "operator", "owner"] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Member roles from least to most privileged. */
export const MEMBER_ROLES = ["viewer", "member", "admin"] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Scopes of API keys: reads and quotes, courier reports, or everything. */
export const KEY_SCOPES = ["read_only", "courier", "full"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether `role` includes the permissions of `needed`. `roles` must be sorted from least to most privileged. */
export function includesRole<Role>(roles: readonly Role[], role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
