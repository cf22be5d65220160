import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ListSessionsResponseSchema,
  type ListSessionsResponse,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { PersonCall } from "../../pipeline/call.ts";
import { SESSION_GOES_ON, SESSION_IDLE } from "./session.entity.ts";

interface SessionRow {
  readonly id: number;
  readonly userAgent: string;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly endsAtMs: number;
}

/** How many sessions are listed; a person who has more sees those used last. */
const MAX_LISTED = 100;

/**
 * Lists the sessions of the person who has signed in, the one used last first. One that is bound to a
 * workspace sees those that are bound to the same.
 */
export async function listSessions(
  _request: unknown,
  { caller: { personId, sessionId, boundTo } }: PersonCall,
  { em }: DatabaseDeps,
): Promise<ListSessionsResponse> {
  const rows = await runStatement<SessionRow>(
    em.fork(),
    `select id::float8 as id, user_agent as "userAgent",
       extract(epoch from created_at)::float8 * 1000 as "createdAtMs",
       extract(epoch from last_seen_at)::float8 * 1000 as "lastSeenAtMs",
       extract(epoch from least(ends_at, last_seen_at + ${SESSION_IDLE}))::float8 * 1000
         as "endsAtMs"
     from session
     where person_id = $1 and ($3::bigint is null or workspace_id = $3) 
       and ${SESSION_GOES_ON}
     order by last_seen_at desc, id desc limit $2`,
    [personId, MAX_LISTED, boundTo],
  );
  const data = rows.map(({ id, userAgent, createdAtMs, lastSeenAtMs, endsAtMs }) => ({
    id: BigInt(id),
    userAgent,
    createdAt: timestampFromMs(createdAtMs),
    lastSeenAt: timestampFromMs(lastSeenAtMs),
    endsAt: timestampFromMs(endsAtMs),
    current: id === sessionId,
  }));
  return create(ListSessionsResponseSchema, { data });
}
