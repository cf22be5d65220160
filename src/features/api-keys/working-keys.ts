import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { isWorking } from "../credentials/is-working.ts";
import { ApiKey } from "./api-key.entity.ts";

/** The keys of a workspace that work, the oldest first. */
export function findWorkingKeys(em: EntityManager, workspaceId: number): Promise<ApiKey[]> {
  return em.find(
    ApiKey,
    { workspace: workspaceId, ...isWorking() },
    { orderBy: { createdAt: "asc", id: "asc" } },
  );
}

/**
 * The key of an id among the working keys of a workspace.
 *
 * @throws Refusal API_KEY_NOT_FOUND, the same for an unknown key, one that has ended and one of
 * another workspace
 */
export function pickKey(workingKeys: readonly ApiKey[], id: string): ApiKey {
  const found = workingKeys.find((key) => key.id === id);
  if (found === undefined) throw refuse("API_KEY_NOT_FOUND", "There is no such key.");
  return found;
}
