import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/record-id.ts";
import { refuse } from "../../domain/refusal.ts";
import { lockWorkspace } from "../workspaces/lock-workspace.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * A workspace by the id that an operator names, with its row locked if `lock` is given.
 *
 * @throws Refusal WORKSPACE_NOT_FOUND
 */
export async function findWorkspace(
  em: EntityManager,
  given: bigint,
  lock?: "lock",
): Promise<Workspace> {
  const id = readRecordId(given) ?? 0;
  const found = await (lock === undefined ? em.findOne(Workspace, id) : lockWorkspace(em, id));
  if (found === null) throw refuse("WORKSPACE_NOT_FOUND", `There is no workspace ${given}.`);
  return found;
}
