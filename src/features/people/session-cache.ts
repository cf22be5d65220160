import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { createBriefCache } from "../../domain/brief-cache.ts";
import type { MemberRole, OperatorRole } from "../../domain/roles.ts";
import { OPERATOR_LIMITS } from "../../domain/rate-limit.ts";
import { refuse } from "../../domain/refusal.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { Audience, Caller, SessionLookup, SignedInPerson } from "../../pipeline/call.ts";
import type { FindTracking } from "../workspaces/tracking-urls.ts";
import { findLimits } from "../workspaces/workspace-limit.entity.ts";
import { SESSION_GOES_ON } from "./session.entity.ts";

interface CachedSession extends SignedInPerson {
  /** Role in the requested workspace. null if the person is not a member. */
  readonly memberRole: MemberRole | null;
  /** Whether the requested workspace is a test twin. */
  readonly test: boolean;
  readonly suspended: boolean;
  readonly operatorId: number | null;
  readonly operatorName: string | null;
  readonly operatorRole: OperatorRole | null;
}

/** Cached lookup of signed-in people by session token. */
export interface SessionCache extends Pick<SessionLookup, "find"> {
  /**
   * Evicts all entries. Called after a session has ended or a role has changed in this process, so
   * that the change takes effect immediately.
   */
  forgetAll(): void;
}

/** Creates the lookup of sessions. Ended sessions and changed roles take effect everywhere within a second. */
export function createSessionCache(em: EntityManager, findTracking: FindTracking): SessionCache {
  const cache = createBriefCache<Caller | undefined>();
  return {
    find(token, audience, workspace) {
      const lookup = { token, audience, workspace: parseWorkspaceId(workspace) };
      const key = `${token} ${audience} ${lookup.workspace}`;
      return cache.find(key, () => findCaller(em.fork(), lookup, findTracking));
    },
    forgetAll: cache.clear,
  };
}

interface Lookup {
  readonly token: string;
  readonly audience: Audience;
  /** Requested workspace. 0 for an invalid id, `undefined` if the call names none. */
  readonly workspace: number | undefined;
}

async function findCaller(
  em: EntityManager,
  { token, audience, workspace: workspaceId }: Lookup,
  findTracking: FindTracking,
): Promise<Caller | undefined> {
  const [found] = await runStatement<CachedSession>(em, FIND, [hashKey(token), workspaceId ?? null]);
  if (found === undefined) return undefined;
  const { personId, email, sessionId, boundTo } = found;
  const person = { personId, email, sessionId, boundTo };
  if (audience === "person") {
    return { audience, account: `person ${personId}`, limits: OPERATOR_LIMITS, ...person };
  }
  if (audience === "operator") return operatorCaller(found);
  if (workspaceId === undefined) throw workspaceMissingError();
  if (found.memberRole === null) throw notAMemberError();
  return {
    audience,
    account: workspaceId,
    workspaceId,
    limits: await findLimits(em, workspaceId),
    test: found.test,
    suspended: found.suspended,
    keyId: undefined,
    key: undefined,
    keyScope: undefined,
    member: { ...person, role: found.memberRole },
    ...(await findTracking(em, workspaceId)),
  };
}

/**
 * Returns the caller of an operator RPC. The audit log uses the operator's name, which owners
 * assign, because people can change their own name.
 */
function operatorCaller({ operatorId, operatorName, operatorRole }: CachedSession): Caller {
  if (operatorId === null || operatorName === null || operatorRole === null) {
    throw refuse("NOT_AN_OPERATOR");
  }
  return {
    audience: "operator",
    account: `operator ${operatorId}`,
    actor: "operator",
    operatorId,
    keyId: undefined,
    name: operatorName,
    role: operatorRole,
    limits: OPERATOR_LIMITS,
  };
}

/**
 * Finds an active session and marks it as used, with at most one write per minute. The operator with the person's email
 * is the same person. A session that is bound to a workspace has no permissions in other workspaces or as an operator.
 * A session has no permissions in a workspace that the person has left since it began. A test twin uses the memberships
 * of its live workspace.
 */
const FIND = `
  with seen as (
    update session set last_seen_at = now()
    where hash = $1 and ${SESSION_GOES_ON}
      and last_seen_at < now() - interval '1 minute'
  )
  select person.id::float8 as "personId", person.email,
    session.id::float8 as "sessionId", session.workspace_id::float8 as "boundTo",
    membership.role as "memberRole",
    named.twin_of is not null as test,
    coalesce(live.suspended_at is not null, false) as suspended,
    operator.id::float8 as "operatorId", operator.name as "operatorName",
    operator.role as "operatorRole"
  from session
  join person on person.id = session.person_id
  left join workspace as named on named.id = $2::bigint
  left join membership
    on membership.workspace_id = coalesce(named.twin_of, named.id) and membership.person_id = person.id
      and membership.workspace_id = coalesce(session.workspace_id, membership.workspace_id)
      and membership.workspace_id <> all (session.left_workspaces)
  left join workspace as live on live.id = membership.workspace_id
  left join operator
    on lower(operator.email) = lower(person.email) and operator.revoked_at is null
      and operator.kind = 'person' and session.workspace_id is null
  where session.hash = $1 and ${SESSION_GOES_ON}`;

/** Parses the workspace id in a header. Returns 0 for an invalid id. */
function parseWorkspaceId(workspace: string | undefined): number | undefined {
  if (workspace === undefined) return undefined;
  return /^[1-9]\d{0,14}$/.test(workspace) ? Number(workspace) : 0;
}

function workspaceMissingError() {
  return refuse("FIELD_INVALID", "Send the workspace's id in the header X-Workspace.", {
    subject: "x-workspace",
  });
}

function notAMemberError() {
  return refuse("NOT_A_MEMBER");
}
