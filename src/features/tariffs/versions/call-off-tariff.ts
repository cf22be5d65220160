import {
  TariffService,
  type CallOffTariffRequest,
  type CallOffTariffResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { announceChange } from "../../../db/change-feed.ts";
import type { DatabaseDeps } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { refuse } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import { changesBetween, recordChange } from "../../audit/record-change.ts";
import { withIdempotency } from "../../idempotency/with-idempotency.ts";
import { lockPublishing } from "./add-version.ts";
import {
  loadVersion,
  versionMessage,
  versionNotFoundError,
  type VersionRow,
} from "./load-version.ts";

/**
 * Calls off a version before its time, by the database's clock.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND, TARIFF_NOT_SCHEDULED
 */
export function callOffTariff(
  request: CallOffTariffRequest,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<CallOffTariffResponse> {
  const { version = 0 } = request;
  const method = TariffService.method.callOffTariff;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    await lockPublishing(tx);
    const isCalledOff = (await runStatement(tx, CALL_OFF, [version])).length > 0;
    const row = await loadVersion(tx, version);
    if (row === undefined) throw versionNotFoundError(version);
    if (!isCalledOff) throw notScheduledError(row);
    await announceChange(tx);
    recordChange(tx, call, {
      subject: `tariff_version/${version}`,
      changes: changesBetween({}, { called_off_at: new Date(row.calledOffAtMs!) }),
    });
    return { data: versionMessage(row) };
  });
}

const CALL_OFF = `
  update tariff_version set called_off_at = statement_timestamp()
  where version = $1 and effective_at > statement_timestamp() and called_off_at is null
  returning version`;

function notScheduledError({ version, state }: VersionRow) {
  const what = {
    scheduled: "takes effect right now",
    in_force: "is in force",
    replaced: "was in force",
    called_off: "has been called off already",
  }[state];
  const text = `Version ${version} ${what}; only one that is scheduled can be called off.`;
  return refuse("TARIFF_NOT_SCHEDULED", text, { subject: "version" });
}
