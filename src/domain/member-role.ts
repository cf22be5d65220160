/** What a member of a workspace may do, from the least to the most; each may do all that those before it may. */
export const MEMBER_ROLES = ["viewer", "member", "admin"] as const;

/** What a member of a workspace may do. */
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Whether a role may do what needs the other. */
export function includesMemberRole(role: MemberRole, needed: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(needed);
}
