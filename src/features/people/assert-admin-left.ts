import type { EntityManager } from "../../db/orm.ts";
import type { MemberRole } from "../../domain/roles.ts";
import { refuse } from "../../domain/refusal.ts";
import { Membership } from "./membership.entity.ts";

/**
 * Checks, after a change of a membership has been written, that it has not taken the workspace its
 * last admin.
 *
 * @param roleBefore the role that the member had; undefined for somebody new
 * @throws Refusal MEMBER_LAST_ADMIN
 */
export async function assertAdminLeft(
  tx: EntityManager,
  workspace: number,
  roleBefore: MemberRole | undefined,
): Promise<void> {
  if (roleBefore !== "admin") return;
  if ((await tx.count(Membership, { workspace, role: "admin" })) > 0) return;
  const text = "This is the workspace's last admin; make somebody else an admin first.";
  throw refuse("MEMBER_LAST_ADMIN", text, { subject: "person" });
}
