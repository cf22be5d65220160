import type { EntityManager } from "../../../db/orm.ts";
import { readRecordId } from "../../../db/record-id.ts";
import { draftNotFoundError } from "../versions/tariff-refusals.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * A draft by its id, with its row locked if `lock` is given.
 *
 * @throws Refusal TARIFF_DRAFT_NOT_FOUND
 */
export async function findDraft(
  em: EntityManager,
  id: bigint,
  lock?: "lock",
): Promise<TariffDraft> {
  const found = await findDraftIfAny(em, id, lock);
  if (found === null) throw draftNotFoundError();
  return found;
}

/** As `findDraft`, but null when there is no such draft. */
export async function findDraftIfAny(
  em: EntityManager,
  id: bigint,
  lock?: "lock",
): Promise<TariffDraft | null> {
  const draft = readRecordId(id);
  if (draft === undefined) return null;
  if (lock !== undefined)
    await em.execute("select from tariff_draft where id = ? for update", [draft]);
  return em.findOne(TariffDraft, { id: draft });
}
