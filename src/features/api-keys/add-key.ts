import type { EntityManager } from "../../db/orm.ts";
import type { KeyScope } from "../../domain/roles.ts";
import { newKey } from "../credentials/secret-keys.ts";
import { ApiKey } from "./api-key.entity.ts";

/** A new key, and its secret, which cannot be read again: only its hash is stored. */
export interface AddedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/**
 * Adds a new key to a workspace in the caller's transaction.
 *
 * @param name what the key is for; null when nobody says
 */
export async function addKey(
  tx: EntityManager,
  workspaceId: number,
  { name, scope }: { readonly name: string | null; readonly scope: KeyScope },
): Promise<AddedKey> {
  const { secret, stored } = newKey("shp_");
  await tx.insert(ApiKey, { ...stored, workspace: workspaceId, name, scope });
  return { key: await tx.findOneOrFail(ApiKey, stored.hash), secret };
}
