import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  TariffService,
  type PublishTariffRequest,
  type PublishTariffResponse,
  type PublishTariffResponseSchema,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { isUnstorable } from "../../../db/database-error.ts";
import type { EntityManager } from "../../../db/orm.ts";
import { runSlowStatement, runStatement } from "../../../db/statement.ts";
import { toInstantMs } from "../../../domain/instant.ts";
import { assertEtag, refuse } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange, type RecordedChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { addVersion, lockPublishing } from "../versions/add-version.ts";
import { versionMessage, type VersionRow } from "../versions/load-version.ts";
import type { CheckedDraft } from "../tasks/run-tariff-task.ts";
import { checkStoredDraft, faultyTariffError, type DraftDeps } from "./check-stored-draft.ts";
import { removal, draftEtag, draftNotFoundError, findDraft, findDraftIfAny } from "./tariff-drafts.ts";
import { TariffDraft } from "./tariff-draft.entity.ts";

/**
 * Publishes a draft as a new version. Without `replaces`, it replaces any version in force. No version is created if
 * the draft equals the version in force. The zones are copied within the database.
 */
export async function publishTariff(
  request: PublishTariffRequest,
  call: OperatorCall,
  deps: DraftDeps,
): Promise<PublishTariffResponse> {
  const checked = await checkRequested(request, deps);
  const method = TariffService.method.publishTariff;
  const publishing = withIdempotency(deps.em, { method, request, call }, async (tx) => {
    // Checked after the lookup of the stored response: publishing deletes the draft, so a retry finds only the response.
    if (checked === undefined) throw draftNotFoundError();
    return publishChecked(tx, request, call, checked);
  });
  return publishing.catch((error: unknown) => {
    throw isUnstorable(error) ? faultyTariffError([UNSTORABLE]) : error;
  });
}

const UNSTORABLE = {
  path: "document",
  text: "must be JSON that the database can store: without numbers of thousands of digits, and without lists of hundreds of megabytes",
};

async function checkRequested(request: PublishTariffRequest, deps: DraftDeps): Promise<CheckedDraft | undefined> {
  const reading = deps.em.fork();
  const draft = await findDraftIfAny(reading, request.draft ?? 0n);
  if (draft === null) return undefined;
  if (request.effectiveAt !== undefined) await assertToCome(reading, request.effectiveAt);
  assertEtag("draft", request.etag, draftEtag(draft));
  const checked = await checkStoredDraft(deps, draft);
  if (checked !== undefined && checked.faults.length > 0) throw faultyTariffError(checked.faults);
  return checked;
}

/**
 * Checks that the effective time is between now and a year from now. Up to a minute ago counts as
 * now, because clocks differ and calls take time.
 */
async function assertToCome(em: EntityManager, effectiveAt: Timestamp): Promise<void> {
  const [row] = await runStatement<{ isPast: boolean; isLate: boolean }>(
    em,
    `select $1::timestamptz < statement_timestamp() - interval '1 minute' as "isPast",
       $1::timestamptz > statement_timestamp() + interval '1 year' as "isLate"`,
    [effectiveTimeOf(effectiveAt)],
  );
  const { isPast, isLate } = row!;
  if (!isPast && !isLate) return;
  const text = isPast
    ? "effective_at must not be in the past. Omit it to publish immediately."
    : "effective_at must be at most a year from now.";
  throw refuse("FIELD_INVALID", text, { subject: "effective_at" });
}

/** Returns the effective time in whole milliseconds, rounded up so that it is not before the requested time. */
function effectiveTimeOf(timestamp: Timestamp): string {
  return new Date(toInstantMs(timestamp, Math.ceil)!).toISOString();
}

async function publishChecked(
  tx: EntityManager,
  request: PublishTariffRequest,
  call: OperatorCall,
  { revision, digest }: CheckedDraft,
): Promise<MessageInitShape<typeof PublishTariffResponseSchema>> {
  await lockPublishing(tx);
  const draft = await findDraft(tx, request.draft ?? 0n, "lock");
  assertEtag("draft", draftEtag({ id: draft.id, revision }), draftEtag(draft));
  const { replaces, note, effectiveAt, honoursQuotes = true } = request;
  const { row, added } = await addVersion(tx, {
    replaces,
    digest: digest!,
    async insert(version, replaced) {
      const at = effectiveAt === undefined ? null : effectiveTimeOf(effectiveAt);
      const { name: author } = call.caller;
      const facts = [note ?? null, at, author, replaced, honoursQuotes];
      await runSlowStatement(tx, INSERT, [draft.id, version, digest, ...facts]);
    },
  });
  await tx.nativeDelete(TariffDraft, { id: draft.id });
  recordChange(tx, call, added ? publication(draft, row) : removal(draft));
  return { data: versionMessage(row), published: added };
}

function publication(
  { id, name }: TariffDraft,
  { version, note, replaces, effectiveAtMs, honoursQuotes: honours_quotes }: VersionRow,
): RecordedChange {
  const effective_at = new Date(effectiveAtMs);
  const after = { draft: `tariff_draft/${id}`, name, note, replaces, effective_at, honours_quotes };
  return { subject: `tariff_version/${version}`, changes: changesBetween({}, after) };
}

/**
 * Inserts a version. The text of the zones, without a byte order mark, is inserted before the last brace of the fees,
 * so both texts stay unchanged. Times are truncated to milliseconds, because the column could round them up.
 */
const INSERT = `
  insert into tariff_version
    (document, version, digest, note, published_at, effective_at, author, replaces,
      honours_quotes)
  select
    (left(fees::text, -1) || ',"zones":' || (
      select ltrim(convert_from(string_agg(data, '' order by "begin"), 'UTF8'), chr(x'feff'::int))
      from tariff_draft_piece where draft_id = id
    ) || '}')::json,
    $2::int, $3::text, $4::text, date_trunc('milliseconds', statement_timestamp()),
    greatest($5::timestamptz, date_trunc('milliseconds', statement_timestamp())),
    $6::text, $7::int, $8::boolean
  from tariff_draft where id = $1`;
