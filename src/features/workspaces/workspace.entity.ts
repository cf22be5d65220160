import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** A team account, which shipments, customers and API keys belong to. */
export const Workspace = defineEntity({
  name: "Workspace",
  tableName: "workspace",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    createdAt: p.datetime(3),
    /** Since when its calls are refused; null while they are not. */
    suspendedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: "workspace_by_name", properties: ["name", "id"] }],
  checks: [{ name: "workspace_name_given", expression: "name <> ''" }],
});

export type Workspace = InferEntity<typeof Workspace>;

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
