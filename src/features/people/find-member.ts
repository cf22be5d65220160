import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/record-id.ts";
import { refuse } from "../../domain/refusal.ts";
import { Membership } from "./membership.entity.ts";
import { Person } from "./person.entity.ts";

/**
 * Finds a member of a workspace by the person's id.
 *
 * @throws Refusal MEMBER_NOT_FOUND, for members of other workspaces alike
 */
export async function findMember(
  tx: EntityManager,
  workspace: number,
  person: bigint,
): Promise<{ membership: Membership; person: Person }> {
  const id = readRecordId(person);
  const membership =
    id === undefined ? null : await tx.findOne(Membership, { workspace, person: id });
  if (membership === null) {
    throw refuse("MEMBER_NOT_FOUND", "The workspace has no member with this id.");
  }
  return { membership, person: await tx.findOneOrFail(Person, id!) };
}
