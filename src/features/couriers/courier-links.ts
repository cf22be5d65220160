import {
  type CourierLink as LinkMessage,
  CourierLinkSchema,
  type CourierService,
} from "../../../gen/shipments/v1/courier_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import { MAX_COURIER_LINKS } from "../../domain/limits.ts";
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
    ends_at as "expiresAt", count(session.hash)::int as devices, max(session.last_seen_at) as "lastUsedAt"
  from courier_link as link
    left join courier_session as session
      on session.workspace_id = link.workspace_id and session.link_id = link.id
  where link.workspace_id = $1 and courier_id = $2 and ends_at > now()
  group by link.workspace_id, link.id order by link.created_at desc, link.id`;

const CREATE = `
  insert into courier_link (workspace_id, id, courier_id, hash, created_by, created_at, ends_at)
  values ($1, $2, $3, $4, $5, now(), now() + make_interval(days => $6))`;

export const COURIER_LINK_FUNCTIONS: Pick<
  ServiceFunctions<typeof CourierService, Call, DatabaseDeps>,
  "createCourierLink" | "listCourierLinks" | "revokeCourierLink"
> = {
  async createCourierLink({ courier, expiresInDays = DEFAULT_DAYS }, call, { em }) {
    const { workspaceId } = call.caller;
    // Locks the courier, so that concurrent calls count each other's links.
    await loadCourier(em, call, courier, "lock");
    if ((await listLinks(em, workspaceId, courier)).length >= MAX_COURIER_LINKS) throw refuse("COURIER_LINK_LIMIT");
    const id = createId("col");
    const token = createCourierToken(workspaceId);
    const values = [workspaceId, id, courier, hashKey(token), describeActor(call), expiresInDays];
    await runStatement(em, CREATE, values);
    const link = (await listLinks(em, workspaceId, courier)).find((it) => it.id === id)!;
    const changes = changesBetween({}, { link: id, expires_at: new Date(link.expiresAt!) });
    recordChange(em, call, { subject: `courier/${courier}`, workspaceId, changes });
    return { data: toMessage(link), path: `/c#${token}` };
  },

  /** Needs no pages, because there are at most `MAX_COURIER_LINKS`. */
  async listCourierLinks({ courier }, call, { em }) {
    await loadCourier(em.fork(), call, courier);
    return { data: (await listLinks(em, call.caller.workspaceId, courier)).map((link) => toMessage(link)) };
  },

  async revokeCourierLink({ courier, link }, call, { em }) {
    const { workspaceId } = call.caller;
    const revoke = "delete from courier_link where workspace_id = $1 and courier_id = $2 and id = $3 returning 1";
    const revoked = await runStatement(em, revoke, [workspaceId, courier, link]);
    if (revoked.length === 0) throw refuse("COURIER_LINK_NOT_FOUND");
    const changes = changesBetween({ link }, {});
    recordChange(em, call, { subject: `courier/${courier}`, workspaceId, changes });
    return {};
  },
};

const toMessage = compileToMessage(CourierLinkSchema);

/** Lists the active links of a courier, the newest first. */
function listLinks(em: EntityManager, workspace: number, courier: string): Promise<RecordOf<LinkMessage>[]> {
  return runStatement<RecordOf<LinkMessage>>(em, LIST, [workspace, courier]);
}

/** Deletes expired links and their devices. Returns the number of deleted links. */
export function purgeCourierLinks(em: EntityManager): Promise<number> {
  return deleteOldest(em, "courier_link", "ends_at", "now()", []);
}
