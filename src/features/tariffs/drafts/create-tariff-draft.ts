import type { TariffDraft as TariffDraftMessage } from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import type { CreateTariffDraftRequest } from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { lockAndLoad } from "../../../db/lock-and-load.ts";
import type { EntityManager } from "../../../db/orm.ts";
import { runSlowStatement } from "../../../db/statement.ts";
import { MAX_TARIFF_DRAFTS } from "../../../domain/limits.ts";
import { refuse } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { versionNotFoundError } from "../versions/load-version.ts";
import { CHUNK_BYTES } from "../versions/zones-document.ts";
import type { DraftDeps } from "./check-stored-draft.ts";
import { withFees } from "../versions/document-message.ts";
import { auditedFees, draftMessage } from "./tariff-drafts.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * Creates a draft, either empty or as a copy of a version.
 *
 * @param base initial document without zones, if the draft is not a copy
 */
export async function createTariffDraft(
  { name, fromVersion, fees }: CreateTariffDraftRequest,
  call: OperatorCall,
  { em, now }: Pick<DraftDeps, "em" | "now">,
  base: object = {},
): Promise<{ data: TariffDraftMessage }> {
  await assertCapacity(em);
  const copied = fromVersion === undefined ? base : await loadHead(em, fromVersion);
  const createdAt = now();
  const draft = em.create(TariffDraft, {
    name,
    author: call.caller.name,
    fees: withFees(copied, fees),
    zonesBytes: 0,
    fromVersion: fromVersion ?? null,
    revision: 1,
    createdAt,
    updatedAt: createdAt,
  });
  await em.flush();
  if (fromVersion !== undefined) draft.zonesBytes = await copyZones(em, draft.id, fromVersion);
  await em.flush();
  const after = { name, from_version: fromVersion, ...auditedFees(draft.fees) };
  const changes = changesBetween({}, after);
  recordChange(em, call, { subject: `tariff_draft/${draft.id}`, changes });
  return { data: draftMessage(draft) };
}

async function assertCapacity(tx: EntityManager): Promise<void> {
  const count = await lockAndLoad(tx, "tariff drafts", 0, () => tx.count(TariffDraft));
  if (count >= MAX_TARIFF_DRAFTS) throw refuse("TARIFF_DRAFT_LIMIT");
}

/** Loads the document of a version without its zones, in the original key order. */
async function loadHead(tx: EntityManager, version: number): Promise<object> {
  const [row] = await runSlowStatement<{ head: object | null }>(tx, SELECT_HEAD, [version]);
  if (row === undefined) throw versionNotFoundError(version);
  return row.head ?? {};
}

const SELECT_HEAD = `
  select (
    select json_object_agg(key, value order by ordinality)
    from json_each(document) with ordinality as part (key, value, ordinality) where key <> 'zones'
  ) as head
  from tariff_version where version = $1`;

/** Copies the zones of a version to a draft within the database. Returns their size in bytes. */
async function copyZones(tx: EntityManager, draft: number, version: number): Promise<number> {
  const values = [draft, version];
  const [row] = await runSlowStatement<{ bytes: number }>(tx, COPY_ZONES, values);
  return row!.bytes;
}

/** Uses `offset 0` so that PostgreSQL evaluates the text once, not once per chunk. */
const COPY_ZONES = `
  with copied as (
    insert into tariff_draft_piece (draft_id, "begin", data)
    select $1, start - 1, substring(zones from start for ${CHUNK_BYTES})
    from (
      select convert_to((document -> 'zones')::text, 'UTF8') as zones
      from tariff_version where version = $2 offset 0
    ) as copied, generate_series(1, octet_length(zones), ${CHUNK_BYTES}) as start
    returning octet_length(data) as bytes
  )
  select coalesce(sum(bytes), 0)::float8 as bytes from copied`;
