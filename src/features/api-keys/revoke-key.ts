import type { EntityManager } from "../../db/orm.ts";
import type { AnyCall } from "../../pipeline/call.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import type { ApiKey } from "./api-key.entity.ts";
import { endApiKeys } from "./end-api-keys.ts";

/** Ends a working key at once, and records it. The caller has locked the row of the workspace. */
export async function revokeKey(tx: EntityManager, call: AnyCall, key: ApiKey): Promise<void> {
  const [ended] = await endApiKeys(tx, [key], 0);
  const { id, before, endsAt } = ended!;
  recordChange(tx, call, {
    subject: `api_key/${id}`,
    workspaceId: key.workspace,
    changes: changesBetween({ ends_at: before }, { ends_at: endsAt }),
  });
}
