import {
  type CourierLink as LinkMessage,
  CourierLinkSchema,
  type CourierService,
} from "../../../gen/shipments/v1/courier_service_pb.js";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import { MAX_COURIER_EMAILS, MAX_COURIER_EMAILS_OF_HOUR, MAX_COURIER_LINKS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import { createId, hashKey } from "../../domain/secret-key.ts";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, describeActor, recordChange } from "../audit/record-change.ts";
import { loadCourier } from "./couriers.ts";
import { createCourierToken } from "./courier-token.ts";

const DEFAULT_DAYS = 14;

const LIST = `
  select link.id, courier_id as courier, link.created_by as "createdBy", link.created_at as "createdAt",
    ends_at as "expiresAt", count(session.hash)::int as devices, max(session.last_seen_at) as "lastUsedAt",
    link.state as "emailStatus"
  from courier_link as link
    left join courier_session as session
      on session.workspace_id = link.workspace_id and session.link_id = link.id
  where link.workspace_id = $1 and courier_id = $2 and ends_at > now()
  group by link.workspace_id, link.id order by link.created_at desc, link.id`;

const CREATE = `
  insert into courier_link
    (workspace_id, id, courier_id, hash, created_by, created_at, ends_at, state, next_attempt_at)
  values ($1, $2, $3, $4, $5, now(), now() + make_interval(days => $6),
    case when $7::boolean then 'waiting' end, case when $7 then now() end)`;

/** Revoked links count too. They are kept for an hour after they end. */
const COUNT_EMAILED = `
  select count(*)::int as "ofWorkspace",
    (count(*) filter (where courier_id = $2 and created_at > now() - interval '15 minutes'))::int as "ofCourier"
  from courier_link where workspace_id = $1 and state is not null and created_at > now() - interval '1 hour'`;

const REVOKE = `
  update courier_link set ends_at = now()
  where workspace_id = $1 and courier_id = $2 and id = $3 and ends_at > now() returning 1`;

interface CourierLinkDeps extends DatabaseDeps {
  /** Whether a mail server is configured. Defaults to false. */
  readonly sendsMails?: boolean;
}

export const COURIER_LINK_FUNCTIONS: Pick<
  ServiceFunctions<typeof CourierService, Call, CourierLinkDeps>,
  "createCourierLink" | "listCourierLinks" | "revokeCourierLink"
> = {
  async createCourierLink({ courier, expiresInDays = DEFAULT_DAYS, sendEmail }, call, { em, sendsMails = false }) {
    const { workspaceId } = call.caller;
    // Locks the courier, so that concurrent calls count each other's links.
    const lockCourier = () => loadCourier(em, call, courier, "lock");
    // Emails are limited per workspace, so creating an emailed link also locks the workspace's emails.
    const { email } = await (sendEmail ? lockAndLoad(em, "courier emails", workspaceId, lockCourier) : lockCourier());
    if ((await listLinks(em, workspaceId, courier)).length >= MAX_COURIER_LINKS) throw refuse("COURIER_LINK_LIMIT");
    if (sendEmail) await assertMayEmail(em, call, { courier, email, sendsMails });
    const id = createId("col");
    // Sending the email replaces this token.
    const token = createCourierToken(workspaceId);
    const values = [workspaceId, id, courier, hashKey(token), describeActor(call), expiresInDays, sendEmail];
    await runStatement(em, CREATE, values);
    const link = (await listLinks(em, workspaceId, courier)).find((it) => it.id === id)!;
    const expires_at = new Date(link.expiresAt!);
    const changes = changesBetween({}, { link: id, expires_at, ...(sendEmail && { emailed: true }) });
    recordChange(em, call, { subject: `courier/${courier}`, workspaceId, changes });
    return { data: toMessage(link), path: sendEmail ? "" : `/c#${token}` };
  },

  /** Not paginated, because there are at most `MAX_COURIER_LINKS`. */
  async listCourierLinks({ courier }, call, { em }) {
    await loadCourier(em.fork(), call, courier);
    return { data: (await listLinks(em, call.caller.workspaceId, courier)).map((link) => toMessage(link)) };
  },

  async revokeCourierLink({ courier, link }, call, { em }) {
    const { workspaceId } = call.caller;
    const revoked = await runStatement(em, REVOKE, [workspaceId, courier, link]);
    if (revoked.length === 0) throw refuse("COURIER_LINK_NOT_FOUND");
    const changes = changesBetween({ link }, {});
    recordChange(em, call, { subject: `courier/${courier}`, workspaceId, changes });
    return {};
  },
};

/** @throws Refusal EMAIL_UNAVAILABLE, COURIER_EMAIL_MISSING or COURIER_EMAIL_LIMIT */
async function assertMayEmail(
  em: EntityManager,
  { caller: { workspaceId, test } }: Call,
  to: { readonly courier: string; readonly email: string | null | undefined; readonly sendsMails: boolean },
): Promise<void> {
  const subject = "send_email";
  if (test)
    throw refuse("EMAIL_UNAVAILABLE", "Test mode sends no email. Create a link without send_email.", { subject });
  if (!to.sendsMails) throw refuse("EMAIL_UNAVAILABLE", "The service has no mail server. Share the link.", { subject });
  if (!to.email) throw refuse("COURIER_EMAIL_MISSING");
  const [emailed] = await runStatement<{ ofWorkspace: number; ofCourier: number }>(em, COUNT_EMAILED, [
    workspaceId,
    to.courier,
  ]);
  const isFull = emailed!.ofCourier >= MAX_COURIER_EMAILS || emailed!.ofWorkspace >= MAX_COURIER_EMAILS_OF_HOUR;
  if (isFull) throw refuse("COURIER_EMAIL_LIMIT");
}

const toMessage = compileToMessage(CourierLinkSchema);

/** Lists the active links of a courier, the newest first. */
function listLinks(em: EntityManager, workspace: number, courier: string): Promise<RecordOf<LinkMessage>[]> {
  return runStatement<RecordOf<LinkMessage>>(em, LIST, [workspace, courier]);
}

/** Deletes links that ended more than an hour ago, and their devices. Returns the number of deleted links. */
export function purgeCourierLinks(em: EntityManager): Promise<number> {
  return deleteOldest(em, "courier_link", "ends_at", "now() - interval '1 hour'", []);
}
