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
import { Person } from "./person.entity.ts";
import { SAVED_FILTER_FUNCTIONS } from "./saved-filters.ts";
import { Session, SESSION_GOES_ON, SESSION_IDLE } from "./session.entity.ts";

const respond = compileResponse(ListSessionsResponseSchema);

/** How many sessions are listed; a person who has more sees those used last. */
const MAX_LISTED = 100;

/** What people who have signed in do with what is their own. */
export const ACCOUNT_FUNCTIONS: ServiceFunctions<typeof AccountService, PersonCall, DatabaseDeps> =
  {
    getAccount: async (_request, { caller }, { em }) => ({
      data: await loadAccount(em.fork(), caller),
    }),

    /**
     * A session that a workspace's link began must not change what others see of the person: the
     * workspace's admins could have used the link.
     */
    async updateAccount({ name }, { caller }, { em }) {
      if (caller.boundTo !== null && (await actsElsewhere(em, caller)))
        throw refuse("SESSION_BOUND");
      await em.nativeUpdate(Person, { id: caller.personId }, { name });
      return { data: await loadAccount(em, caller) };
    },

    /** The one used last first. A session that is bound to a workspace sees those bound to the same. */
    async listSessions(_request, { caller: { personId, sessionId, boundTo } }, { em }) {
      const rows = await runStatement<SessionRow>(em.fork(), LIST_SESSIONS, [
        personId,
        MAX_LISTED,
        boundTo,
      ]);
      const data = rows.map((row) => ({ ...row, current: row.id === sessionId }));
      return respond({ data, nextPageToken: "" });
    },

    /** Within a second everywhere. A session that is bound to a workspace ends those bound to the same. */
    async endSession({ session }, { caller: { personId: person, boundTo } }, { em }) {
      const workspace = boundTo === null ? {} : { workspace: boundTo };
      const id = readRecordId(session) ?? 0;
      const ended = await em.nativeDelete(Session, { id, person, ...workspace });
      if (ended === 0) throw refuse("SESSION_NOT_FOUND");
      return {};
    },

    ...SAVED_FILTER_FUNCTIONS,
  };

interface SessionRow {
  readonly id: number;
  readonly userAgent: string;
  /** Times are in milliseconds since the epoch. */
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

/** Whether the person is known to another workspace, or to the platform. */
async function actsElsewhere(
  em: EntityManager,
  { personId, boundTo }: PersonCall["caller"],
): Promise<boolean> {
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
