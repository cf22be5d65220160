import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { Workspace } from "./workspace.entity.ts";

/**
 * The workspace of an id, with its row locked until the transaction ends, so that changes of a
 * workspace and its keys come one after the other; null when there is none.
 */
export async function lockWorkspace(tx: EntityManager, id: number): Promise<Workspace | null> {
  await runStatement(tx, LOCK_WORKSPACE, [id]);
  return tx.findOne(Workspace, id);
}

/** `no key update`, so that rows that refer to the workspace can be inserted meanwhile. */
const LOCK_WORKSPACE = "select from workspace where id = $1 for no key update";
