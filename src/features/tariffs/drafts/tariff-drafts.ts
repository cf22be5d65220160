import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { readRecordId } from "../../../db/columns.ts";
import { refuse, type Refusal } from "../../../domain/refusal.ts";
import { compileToMessage } from "../../../json/records.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";
import {
  TariffDraftSchema,
  TariffFeesSchema,
  type TariffDraft as TariffDraftMessage,
} from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import { changesBetween, recordChange, type RecordedChange } from "../../audit/record-change.ts";
import { readDocument } from "../versions/document-message.ts";

/** @throws Refusal TARIFF_DRAFT_NOT_FOUND */
export async function findDraft(em: EntityManager, id: bigint, lock?: "lock"): Promise<TariffDraft> {
  const found = await findDraftIfAny(em, id, lock);
  if (found === null) throw draftNotFoundError();
  return found;
}

export async function findDraftIfAny(em: EntityManager, id: bigint, lock?: "lock"): Promise<TariffDraft | null> {
  const draft = readRecordId(id);
  if (draft === undefined) return null;
  if (lock !== undefined) await runStatement(em, "select from tariff_draft where id = $1 for update", [draft]);
  return em.findOne(TariffDraft, { id: draft });
}

export function draftNotFoundError(): Refusal {
  return refuse("TARIFF_DRAFT_NOT_FOUND");
}

type Revised = Pick<TariffDraft, "id" | "revision">;

/** Returns the etag of a draft. Each change to a draft changes its etag, and no two drafts have the same etag. */
export function draftEtag({ id, revision }: Revised): string {
  return `${id}-${revision}`;
}

const toMessage = compileToMessage(TariffDraftSchema);

export function draftMessage(draft: TariffDraft): TariffDraftMessage {
  return toMessage({
    ...draft,
    fees: readDocument(TariffFeesSchema, draft.fees),
    etag: draftEtag(draft),
  });
}

/**
 * Maximum length of a list in the audit log, as JSON in characters. For a longer list, the log
 * contains only the number of items.
 */
const MAX_LIST_LENGTH = 2_000;

/** Returns the fees and schedules of a document for the audit log, with long lists shortened. */
export function auditedFees(document: object): Record<string, unknown> {
  const fees = document as Readonly<Record<string, unknown>>;
  const { currency, base_fee, rate_per_km, tiers, schedules, default_schedule } = fees;
  return {
    currency,
    base_fee,
    rate_per_km,
    tiers: auditedList(tiers, "tiers"),
    schedules: auditedList(schedules, "schedules"),
    default_schedule,
  };
}

/** Returns a list as it is recorded in the audit log: the list itself, or text such as `300 tiers` if it is too long. */
function auditedList(list: unknown, what: string): unknown {
  const isLong = Array.isArray(list) && JSON.stringify(list).length > MAX_LIST_LENGTH;
  return isLong ? `${list.length} ${what}` : list;
}

export function removal({ id, name, fees }: TariffDraft): RecordedChange {
  const changes = changesBetween({ name, ...auditedFees(fees) }, {});
  return { subject: `tariff_draft/${id}`, changes };
}

/** @throws Refusal TARIFF_DRAFT_NOT_FOUND */
export async function deleteDraft(tx: EntityManager, call: OperatorCall, sent: bigint): Promise<object> {
  const draft = await findDraft(tx, sent, "lock");
  await tx.nativeDelete(TariffDraft, { id: draft.id });
  recordChange(tx, call, removal(draft));
  return {};
}
