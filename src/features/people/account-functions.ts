import {
  type AccountService,
  ListSessionsResponseSchema,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PersonCall } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { loadAccount } from "./load-account.ts";
import { Membership } from "./membership.entity.ts";
import { Person } from "./person.entity.ts";
import { SAVED_FILTER_FUNCTIONS } from "./saved-filters.ts";
import { Session, SESSION_GOES_ON, SESSION_IDLE } from "./session.entity.ts";

const respond = compileResponse(ListSessionsResponseSchema);

const MAX_LISTED = 100;

/** RPCs for signed-in people to manage their own data. */
export const ACCOUNT_FUNCTIONS: ServiceFunctions<typeof AccountService, PersonCall, DatabaseDeps> = {
  getAccount: async (_request, { caller }, { em }) => ({
    data: await loadAccount(em.fork(), caller),
  }),

  /**
   * A session that is bound to a workspace changes the name only in this workspace, because an admin of the workspace
   * may have started the session with the link.
   */
  async updateAccount({ name }, { caller }, { em }) {
    if (caller.boundTo === null) {
      await em.nativeUpdate(Person, { id: caller.personId }, { name });
      await runStatement(em, SHOW_NAME, [caller.personId, caller.sessionId]);
    } else {
      if (await actsElsewhere(em, caller)) throw refuse("SESSION_BOUND");
      const membership = { workspace: caller.boundTo, person: caller.personId };
      await em.nativeUpdate(Membership, membership, { name });
    }
    return { data: await loadAccount(em, caller) };
  },

  /**
   * Lists sessions, most recently used first. A session that is bound to a workspace sees only
   * sessions bound to the same workspace.
   */
  async listSessions(_request, { caller: { personId, sessionId, boundTo } }, { em }) {
    const rows = await runStatement<SessionRow>(em.fork(), LIST_SESSIONS, [personId, MAX_LISTED, boundTo]);
    const data = rows.map((row) => ({ ...row, current: row.id === sessionId }));
    return respond({ data, nextPageToken: "" });
  },

  /**
   * Ends a session everywhere within a second. A session that is bound to a workspace can end
   * only sessions bound to the same workspace.
   */
  async endSession({ session }, { caller: { personId: person, boundTo } }, { em }) {
    const workspace = boundTo === null ? {} : { workspace: boundTo };
    const id = readRecordId(session) ?? 0;
    const ended = await em.nativeDelete(Session, { id, person, ...workspace });
    if (ended === 0) throw refuse("SESSION_NOT_FOUND");
    return {};
  },

  ...SAVED_FILTER_FUNCTIONS,
};

/**
 * Makes the person's chosen name visible in the workspaces of which they have been a member since the session began.
 */
const SHOW_NAME = `
  update membership set name = null from session
  where session.id = $2 and membership.person_id = $1 and membership.created_at <= session.created_at
    and membership.workspace_id <> all (session.left_workspaces)`;

interface SessionRow {
  readonly id: number;
  readonly userAgent: string;
  /** Start of the session in milliseconds since the epoch, like the times below. */
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly endsAt: number;
}

const LIST_SESSIONS = `
  select id::float8 as id, user_agent as "userAgent",
    (extract(epoch from created_at) * 1000)::float8 as "createdAt",
    (extract(epoch from last_seen_at) * 1000)::float8 as "lastSeenAt",
    (extract(epoch from least(ends_at, last_seen_at + ${SESSION_IDLE})) * 1000)::float8 as "endsAt"
  from session
  where person_id = $1 and ($3::bigint is null or workspace_id = $3) and ${SESSION_GOES_ON}
  order by last_seen_at desc, id desc limit $2`;

/** Whether the person is a member of another workspace or an operator. */
async function actsElsewhere(em: EntityManager, { personId, boundTo }: PersonCall["caller"]): Promise<boolean> {
  const [row] = await runStatement<{ found: boolean }>(
    em,
    `select exists (select from membership where person_id = $1 and workspace_id <> $2)
       or exists (
         select from operator join person on lower(person.email) = lower(operator.email)
         where person.id = $1 and operator.kind = 'person' and operator.revoked_at is null
       ) as found`,
    [personId, boundTo],
  );
  return row!.found;
}
