import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ListSessionsResponseSchema,
  type ListSessionsResponse,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { PersonCall } from "../../pipeline/call.ts";

interface SessionRow {
  readonly id: number;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly endsAt: Date;
}

/** How many sessions are listed; a person who has more sees those used last. */
const MAX_LISTED = 100;

/** Lists the sessions of the person who has signed in, the one used last first. */
export async function listSessions(
  { caller: { personId, sessionId } }: PersonCall,
  em: EntityManager,
): Promise<ListSessionsResponse> {
  const rows = await runStatement<SessionRow>(
    em.fork(),
    `select id::float8 as id, user_agent as "userAgent", created_at as "createdAt",
       last_seen_at as "lastSeenAt",
       least(ends_at, last_seen_at + interval '12 hours') as "endsAt"
     from session
     where person_id = $1 and ends_at > now() and last_seen_at > now() - interval '12 hours'
     order by last_seen_at desc, id desc limit $2`,
    [personId, MAX_LISTED],
  );
  const data = rows.map(({ id, userAgent, createdAt, lastSeenAt, endsAt }) => ({
    id: BigInt(id),
    userAgent,
    createdAt: timestampFromDate(createdAt),
    lastSeenAt: timestampFromDate(lastSeenAt),
    endsAt: timestampFromDate(endsAt),
    current: id === sessionId,
  }));
  return create(ListSessionsResponseSchema, { data });
}
