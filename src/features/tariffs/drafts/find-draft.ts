import type { EntityManager } from "../../../db/orm.ts";
import { readRecordId } from "../../../db/record-id.ts";
import { runStatement } from "../../../db/statement.ts";
import { refuse, type Refusal } from "../../../domain/refusal.ts";
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
    await runStatement(em, "select from tariff_draft where id = $1 for update", [draft]);
  return em.findOne(TariffDraft, { id: draft });
}

/** The refusal of a draft that there is not. */
export function draftNotFoundError(): Refusal {
  return refuse("TARIFF_DRAFT_NOT_FOUND");
}

type Revised = Pick<TariffDraft, "id" | "revision">;

/** The etag of a draft: another one after every change, and never that of another draft. */
export function draftEtag({ id, revision }: Revised): string {
  return `${id}-${revision}`;
}

/** @throws Refusal ETAG_STALE when an etag is given that is not the draft's */
export function assertDraftEtag(draft: Revised, etag: string | undefined): void {
  if (!etag || etag === draftEtag(draft)) return;
  throw staleEtagError();
}

/** The refusal of a change to a draft that has been changed meanwhile. */
export function staleEtagError(): Refusal {
  return refuse(
    "ETAG_STALE",
    "etag is not the draft's any more: it was changed meanwhile. Read it again.",
    { subject: "etag" },
  );
}
