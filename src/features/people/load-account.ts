import { AccountSchema, type Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { MemberRole, OperatorRole } from "../../domain/roles.ts";
import { compileToMessage } from "../../json/records.ts";
import type { SignedInPerson } from "../../pipeline/call.ts";

interface AccountRow {
  readonly email: string;
  readonly name: string;
  readonly operatorRole: OperatorRole | null;
}

interface WorkspaceRow {
  readonly id: number;
  readonly name: string;
  readonly role: MemberRole;
  readonly suspended: boolean;
  readonly testWorkspace: number | null;
  readonly timeZone: string;
  readonly lateAfterMinutes: number;
}

const toMessage = compileToMessage(AccountSchema);

/**
 * SQL for the name that the person chose. If the session is bound to a workspace, the name that this workspace sees.
 */
const NAME = `coalesce(
  case when $2::bigint is null then person.name end,
  (select name from membership
   where person_id = $1 and workspace_id = coalesce($2::bigint, workspace_id) and name is not null
   order by created_at, workspace_id limit 1),
  person.name,
  split_part(person.email, '@', 1))`;

/** Loads the signed-in person and the permissions of the session. */
export async function loadAccount(
  em: EntityManager,
  { personId, sessionId, boundTo }: SignedInPerson,
): Promise<Account> {
  const [account] = await runStatement<AccountRow>(
    em,
    `select person.email, ${NAME} as name, operator.role as "operatorRole"
     from person left join operator
       on lower(operator.email) = lower(person.email) and operator.revoked_at is null
         and operator.kind = 'person' and $2::bigint is null
     where person.id = $1`,
    [personId, boundTo],
  );
  const workspaces = await runStatement<WorkspaceRow>(
    em,
    `select workspace.id::float8 as id, workspace.name, membership.role,
       workspace.suspended_at is not null as suspended, twin.id::float8 as "testWorkspace",
       workspace.time_zone as "timeZone", workspace.late_after_minutes as "lateAfterMinutes"
     from membership join workspace on workspace.id = membership.workspace_id
       left join workspace as twin on twin.twin_of = workspace.id
     where membership.person_id = $1
       and membership.workspace_id = coalesce($2::bigint, membership.workspace_id)
       and not exists (
         select from session
         where session.id = $3 and membership.workspace_id = any (session.left_workspaces))
     order by workspace.name, workspace.id`,
    [personId, boundTo, sessionId],
  );
  return toMessage({ ...account!, id: personId, workspaces });
}
