import type { EntityManager } from "../db/orm.ts";
import { runStatement } from "../db/statement.ts";

/** Those of the workspaces that have a payment provider connected. */
export async function findPaidWorkspaces(
  em: EntityManager,
  workspaces: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await runStatement<{ workspace: string }>(
    em,
    "select workspace_id as workspace from payment_connection where workspace_id = any($1::bigint[])",
    [[...new Set(workspaces)]],
  );
  return new Set(rows.map(({ workspace }) => Number(workspace)));
}
