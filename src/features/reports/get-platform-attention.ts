import {
  GetPlatformAttentionResponseSchema,
  type PlatformAttentionSubject,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { DAY_MS } from "../../domain/schedule/calendar.ts";
import type { RecordOf } from "../../json/records.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import { OperatorKey } from "../operators/operator-key.entity.ts";
import { Operator } from "../operators/operator.entity.ts";
import { calendarsOf, loadBusySlots } from "../slots/upcoming-slots.ts";
import { loadMailBacklog } from "../people/mail-backlog.ts";
import { loadVersionInForce } from "../tariffs/versions/load-version.ts";
import { STOPPED } from "../workspaces/payment-connection.entity.ts";
import { IS_LIVE, Workspace } from "../workspaces/workspace.entity.ts";
import { attentionTo, ENDING_MS, type Listed, MAX_COUNTED, msOf } from "./attention.ts";
import type { HealthDeps, PlatformReportFunctions } from "./get-health.ts";
import { countOverdueWork, loadOverduePayments } from "./overdue-payments.ts";

const respond = compileResponse(GetPlatformAttentionResponseSchema);

type Subject = RecordOf<PlatformAttentionSubject>;

/** Returns the open issues of the platform and of all live workspaces, most severe first. */
export const getPlatformAttention: PlatformReportFunctions["getPlatformAttention"] = async (
  _request,
  _call,
  { em, tariffs, now },
) => {
  const reading = em.fork();
  const data = attentionTo<Subject>([
    { kind: "tariff", count: (await loadVersionInForce(reading)) === undefined ? 1 : 0 },
    await loadPayments(reading, now()),
    { kind: "payment_provider", subjects: await runStatement<Partial<Subject>>(reading, STOPPED_PROVIDERS) },
    await loadMails(reading, now()),
    await loadFailingWebhooks(reading, now()),
    await loadEndingKeys(reading, now()),
    await loadSlots(reading, tariffs, now()),
  ]);
  return respond({ data: await withOwners(reading, data) });
};

async function loadPayments(em: EntityManager, now: Date): Promise<Listed<Subject>> {
  const { payments, events, accounts } = await countOverdueWork(em, now);
  const named = payments === 0 ? [] : await loadOverduePayments(em, now);
  return {
    kind: "payment_overdue",
    count: payments + events + accounts,
    subjects: named.map(({ workspace, shipment: id, dueAt: at }) => ({ workspace, id, at })),
  };
}

const STOPPED_PROVIDERS = `
  select workspace_id::float8 as workspace from payment_connection
  where ${STOPPED} and ${IS_LIVE}
  order by workspace_id limit ${MAX_COUNTED}`;

/** Age at which a waiting email is overdue, in milliseconds. The first retries take place within seconds. */
const MAIL_WAIT_MS = 5 * 60_000;

async function loadMails(em: EntityManager, now: Date): Promise<Listed<Subject>> {
  const { waiting, oldestMs } = await loadMailBacklog(em);
  const isLate = oldestMs !== null && oldestMs <= now.getTime() - MAIL_WAIT_MS;
  return {
    kind: "mail_waiting",
    count: isLate ? waiting : 0,
    subjects: isLate ? [{ at: oldestMs }] : [],
  };
}

/**
 * Range of failure durations that are reported to operators, in milliseconds. Workspaces see failing webhooks
 * immediately. Webhooks that have failed for more than 14 days count as abandoned.
 */
const FAILING_MS = { least: DAY_MS, most: 14 * DAY_MS };

const FAILING_WEBHOOKS = `
  select workspace_id::float8 as workspace, id, url as name, ${msOf("failing_since")} as at
  from webhook
  where failing_since >= $1 and failing_since <= $2
    and disabled_reason is distinct from 'request' and ${IS_LIVE}
  order by failing_since, workspace_id, id limit ${MAX_COUNTED}`;

async function loadFailingWebhooks(em: EntityManager, now: Date): Promise<Listed<Subject>> {
  const before = (ms: number) => new Date(now.getTime() - ms).toISOString();
  const between = [before(FAILING_MS.most), before(FAILING_MS.least)];
  const subjects = await runStatement<Partial<Subject>>(em, FAILING_WEBHOOKS, between);
  return { kind: "webhook_failing", subjects };
}

async function loadEndingKeys(em: EntityManager, now: Date): Promise<Listed<Subject>> {
  const soon = { $gt: now, $lte: new Date(now.getTime() + ENDING_MS) };
  const found = await em.find(
    OperatorKey,
    { endsAt: soon },
    { orderBy: { endsAt: "asc", id: "asc" }, limit: MAX_COUNTED },
  );
  const subjects = found.map(({ operator, id, name, endsAt }) => ({ operator, id, name, at: endsAt }));
  return { kind: "operator_key_ending", subjects };
}

async function loadSlots(em: EntityManager, tariffs: HealthDeps["tariffs"], now: Date): Promise<Listed<Subject>> {
  const busy = await loadBusySlots(em, calendarsOf(tariffs), now.getTime());
  const subjects = busy.map(({ schedule, startMs, ...figures }) => ({ name: schedule, at: startMs, ...figures }));
  return { kind: "busy_slot", subjects };
}

async function withOwners(em: EntityManager, data: ReturnType<typeof attentionTo<Subject>>) {
  const subjects = data.flatMap((each) => each.subjects);
  const idsOf = (field: "workspace" | "operator") =>
    [...new Set(subjects.flatMap((subject) => subject[field] ?? []))].map(Number);
  const [workspaces, operators] = [idsOf("workspace"), idsOf("operator")];
  const names = {
    workspace: namesById(workspaces.length === 0 ? [] : await em.find(Workspace, { id: { $in: workspaces } })),
    operator: namesById(operators.length === 0 ? [] : await em.find(Operator, { id: { $in: operators } })),
  };
  const withOwner = (subject: Subject): Subject => {
    const owner = names.workspace.get(Number(subject.workspace)) ?? names.operator.get(Number(subject.operator));
    return owner === undefined ? subject : { ...subject, owner };
  };
  return data.map((each) => ({ ...each, subjects: each.subjects.map(withOwner) }));
}

function namesById(found: readonly { readonly id: number; readonly name: string }[]) {
  return new Map(found.map(({ id, name }) => [id, name]));
}
