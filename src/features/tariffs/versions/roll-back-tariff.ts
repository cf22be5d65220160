import {
  TariffService,
  type RollBackTariffRequest,
  type RollBackTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { runSlowStatement } from "../../../db/statement.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { addVersion, lockPublishing } from "./add-version.ts";
import { loadVersion, versionMessage, versionNotFoundError } from "./load-version.ts";

/**
 * Publishes a version again as the next one, at once; whatever became of it. One that says the same as
 * the tariff in force makes no version.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND, TARIFF_REPLACED, TARIFF_SCHEDULED
 */
export function rollBackTariff(
  request: RollBackTariffRequest,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<RollBackTariffResponse> {
  const { version: repeats = 0, replaces, note, honoursQuotes = true } = request;
  const method = TariffService.method.rollBackTariff;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    await lockPublishing(tx);
    const repeated = await loadVersion(tx, repeats);
    if (repeated === undefined) throw versionNotFoundError(repeats);
    const { row, added } = await addVersion(tx, {
      replaces,
      digest: repeated.digest,
      async insert(version, replaced) {
        const { name: author } = call.caller;
        const values = [repeats, version, note ?? null, author, replaced, honoursQuotes];
        await runSlowStatement(tx, INSERT_COPY, values);
      },
    });
    if (added) {
      recordChange(tx, call, {
        subject: `tariff_version/${row.version}`,
        changes: changesBetween(
          {},
          { repeats, note, replaces: row.replaces, honours_quotes: honoursQuotes },
        ),
      });
    }
    return { data: versionMessage(row), published: added };
  });
}

/** The document stays within the database. */
const INSERT_COPY = `
  insert into tariff_version
    (document, digest, version, note, published_at, effective_at, author, replaces, repeats, honours_quotes)
  select document, digest, $2::int, $3::text, date_trunc('milliseconds', statement_timestamp()),
    date_trunc('milliseconds', statement_timestamp()), $4::text, $5::int, version, $6::boolean
  from tariff_version where version = $1`;
