import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { createBriefCache } from "../../domain/brief-cache.ts";
import { MAX_COURIER_DEVICES } from "../../domain/limits.ts";
import { COURIER_LIMITS } from "../../domain/rate-limit.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { CallerCourier, SessionLookup, WorkspaceCaller } from "../../pipeline/call.ts";
import { recordCourierSignIn, recordingChanges } from "../audit/record-change.ts";
import type { FindTracking } from "../workspaces/tracking-urls.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import { createCourierToken, workspaceOfToken } from "./courier-token.ts";

/** The browser that opens a link. */
export interface CourierBrowser {
  readonly userAgent: string;
  /** Token of the browser's previous session, which ends. `undefined` if absent. */
  readonly session: string | undefined;
  readonly requestId: string;
}

/** A new session of a courier. */
export interface CourierSignIn {
  /** Token of the session, which cannot be read again. */
  readonly session: string;
  readonly courier: { readonly id: string; readonly name: string; readonly locale: string | null };
  readonly workspace: { readonly name: string };
  readonly expiresAt: Date;
}

/** Maximum length of a stored user agent, in characters. */
const MAX_USER_AGENT = 300;

/** Finds an active link. Locks the courier, so that concurrent sign-ins count each other's devices. */
const FIND_LINK = `
  select link.id as link, link.ends_at as "expiresAt", courier.id, courier.name, courier.locale
  from courier_link as link
    join courier on courier.workspace_id = link.workspace_id and courier.id = link.courier_id
  where link.workspace_id = $1 and link.hash = $2 and link.ends_at > now() and courier.archived_at is null
  for no key update of courier`;

/** Deletes the browser's previous session, and the devices that were used least recently. */
const MAKE_ROOM = `
  delete from courier_session where workspace_id = $1 and (hash = $3 or hash in (
    select session.hash from courier_session as session
      join courier_link as link on link.workspace_id = session.workspace_id and link.id = session.link_id
    where session.workspace_id = $1 and link.courier_id = $2 and link.ends_at > now() and session.hash <> $3
    order by session.last_seen_at desc, session.hash offset $4))`;

const BEGIN = `
  insert into courier_session (workspace_id, hash, link_id, user_agent, created_at, last_seen_at)
  values ($1, $2, $3, $4, now(), now())`;

const NAME = `select live.name from workspace join workspace as live on ${IS_LIVE_OF} where workspace.id = $1`;

/**
 * Starts a session of a courier with a link. The link can be used again until it expires. A courier has at most
 * `MAX_COURIER_DEVICES`: the one that was used least recently is signed out.
 *
 * @returns `undefined` if no active link has this token
 */
export async function openCourierLink(
  em: EntityManager,
  token: string,
  { userAgent, session: previous, requestId }: CourierBrowser,
): Promise<CourierSignIn | undefined> {
  const workspaceId = workspaceOfToken(token);
  if (workspaceId === undefined) return undefined;
  return em.fork().transactional((tx) =>
    recordingChanges(tx, async () => {
      const [found] = await runStatement<FoundLink>(tx, FIND_LINK, [workspaceId, hashKey(token)]);
      if (found === undefined) return undefined;
      const { link, id, name, locale, expiresAt } = found;
      const replaced = previous === undefined ? "" : hashKey(previous);
      await runStatement(tx, MAKE_ROOM, [workspaceId, id, replaced, MAX_COURIER_DEVICES - 1]);
      const session = createCourierToken(workspaceId);
      const device = userAgent.slice(0, MAX_USER_AGENT);
      await runStatement(tx, BEGIN, [workspaceId, hashKey(session), link, device]);
      recordCourierSignIn(tx, { courier: id, name, workspaceId, link, requestId });
      const [workspace] = await runStatement<{ name: string }>(tx, NAME, [workspaceId]);
      return { session, courier: { id, name, locale }, workspace: workspace!, expiresAt: new Date(expiresAt) };
    }),
  );
}

interface FoundLink {
  readonly link: string;
  readonly expiresAt: string;
  readonly id: string;
  readonly name: string;
  readonly locale: string | null;
}

/** Finds an active session and marks it as used, with at most one write per minute. */
const FIND = `
  with seen as (
    update courier_session set last_seen_at = now()
    where workspace_id = $1 and hash = $2 and last_seen_at < now() - interval '1 minute'
  )
  select courier.id, courier.name, workspace.twin_of is not null as test, live.suspended_at is not null as suspended,
    live.couriers_reorder_stops as "canReorder"
  from courier_session as session
    join courier_link as link on link.workspace_id = session.workspace_id and link.id = session.link_id
    join courier on courier.workspace_id = link.workspace_id and courier.id = link.courier_id
    join workspace on workspace.id = session.workspace_id
    join workspace as live on ${IS_LIVE_OF}
  where session.workspace_id = $1 and session.hash = $2 and link.ends_at > now() and courier.archived_at is null`;

/** Creates the lookup of couriers' sessions. A revoked link ends its sessions everywhere within a second. */
export function createFindCourier(em: EntityManager, findTracking: FindTracking): SessionLookup["findCourier"] {
  const cache = createBriefCache<WorkspaceCaller | undefined>();
  return (token) => cache.find(token, () => findCaller(em.fork(), token, findTracking));
}

async function findCaller(
  em: EntityManager,
  token: string,
  findTracking: FindTracking,
): Promise<WorkspaceCaller | undefined> {
  const workspaceId = workspaceOfToken(token);
  if (workspaceId === undefined) return undefined;
  const [found] = await runStatement<CallerCourier & { test: boolean; suspended: boolean; canReorder: boolean }>(
    em,
    FIND,
    [workspaceId, hashKey(token)],
  );
  if (found === undefined) return undefined;
  const { id, name, test, suspended, canReorder } = found;
  return {
    audience: "workspace",
    account: id,
    workspaceId,
    limits: COURIER_LIMITS,
    test,
    suspended,
    keyId: undefined,
    key: undefined,
    keyScope: "courier",
    courier: { id, name },
    canReorder,
    member: undefined,
    ...(await findTracking(em, workspaceId)),
  };
}
