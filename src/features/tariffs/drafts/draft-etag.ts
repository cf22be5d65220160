import { refuse } from "../../../domain/refusal.ts";
import type { TariffDraft } from "./tariff-draft.entity.ts";

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
export function staleEtagError() {
  return refuse(
    "ETAG_STALE",
    "etag is not the draft's any more: it was changed meanwhile. Read it again.",
    { subject: "etag" },
  );
}
