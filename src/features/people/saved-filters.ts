import { create } from "@bufbuild/protobuf";
import {
  type AccountService,
  type SavedFilter as SavedFilterMessage,
  SavedFilterSchema,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import { isUniqueViolation } from "../../db/database-error.ts";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_SAVED_FILTERS } from "../../domain/limits.ts";
import { invalidField, refuse } from "../../domain/refusal.ts";
import type { MemberRole } from "../../domain/roles.ts";
import type { PersonCall, SignedInPerson } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { lockMembers } from "./members.ts";

interface FilterRow {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly shared: boolean;
  readonly sharedBy?: string | null;
}

const COLUMNS = "id::float8 as id, name, query, shared";

/** A union, so that each part can use a different index. */
const LIST = `
  (select ${COLUMNS}, null as "sharedBy" from saved_filter
   where person_id = $1 and workspace_id = $2
   order by lower(name) limit ${MAX_SAVED_FILTERS})
  union all
  (select saved_filter.id::float8, saved_filter.name, query, shared,
     coalesce(membership.name, person.name, split_part(person.email, '@', 1))
   from saved_filter join membership using (workspace_id, person_id)
     join person on person.id = person_id
   where workspace_id = $2 and shared and person_id <> $1
   order by lower(saved_filter.name), saved_filter.id limit ${MAX_SAVED_FILTERS})`;

/**
 * Saves a filter. The first condition limits the person's filters, the second the workspace's
 * shared filters. Neither counts a filter that is replaced.
 */
const SAVE = `
  insert into saved_filter (person_id, workspace_id, name, query, shared)
  select $1, $2, $3, $4, $5 where (
    select count(*) from saved_filter
    where person_id = $1 and workspace_id = $2 and lower(name) <> lower($3)
  ) < ${MAX_SAVED_FILTERS} and (not $5 or (
    select count(*) from saved_filter
    where workspace_id = $2 and shared and (person_id <> $1 or lower(name) <> lower($3))
  ) < ${MAX_SAVED_FILTERS})
  on conflict (person_id, workspace_id, lower(name)) do update
    set name = excluded.name, query = excluded.query, shared = excluded.shared
  returning ${COLUMNS}`;

/** RPCs on a person's saved filters in the workspaces of the session. */
export const SAVED_FILTER_FUNCTIONS: Pick<
  ServiceFunctions<typeof AccountService, PersonCall, DatabaseDeps>,
  "listSavedFilters" | "saveFilter" | "renameSavedFilter" | "deleteSavedFilter"
> = {
  async listSavedFilters(request, { caller }, { em }) {
    const { workspace } = await membershipOf(em, caller, request.workspace);
    const rows = await runStatement<FilterRow>(em, LIST, [caller.personId, workspace]);
    return { data: rows.map(filterMessage) };
  },

  /** Saves a filter. Replaces a filter with the same name. */
  async saveFilter({ name, query, shared, ...request }, { caller }, { em }) {
    const { workspace, role } = await lockMembership(em, caller, request.workspace);
    if (shared) assertMayShare(role);
    const values = [caller.personId, workspace, name, query, shared];
    const [row] = await runStatement<FilterRow>(em, SAVE, values);
    if (row === undefined) throw refuse("SAVED_FILTER_LIMIT");
    return { data: filterMessage(row) };
  },

  async renameSavedFilter({ name, ...request }, { caller }, { em }) {
    const { workspace, role } = await lockMembership(em, caller, request.workspace);
    const id = readRecordId(request.savedFilter) ?? 0;
    const rename = runStatement<FilterRow>(
      em,
      `update saved_filter set name = $4 where person_id = $1 and workspace_id = $2 and id = $3
       returning ${COLUMNS}`,
      [caller.personId, workspace, id, name],
    );
    const [row] = await rename.catch((error: unknown) => {
      throw isUniqueViolation(error) ? refuse("SAVED_FILTER_NAME_TAKEN") : error;
    });
    if (row === undefined) throw refuse("SAVED_FILTER_NOT_FOUND");
    // If this throws, the update is rolled back.
    if (row.shared) assertMayShare(role);
    return { data: filterMessage(row) };
  },

  async deleteSavedFilter(request, { caller }, { em }) {
    const { workspace, role } = await membershipOf(em, caller, request.workspace);
    const id = readRecordId(request.savedFilter) ?? 0;
    const rows = await runStatement(
      em,
      `delete from saved_filter
       where id = $3 and workspace_id = $2 and (person_id = $1 or shared and $4) returning 1`,
      [caller.personId, workspace, id, role === "admin"],
    );
    if (rows.length === 0) throw refuse("SAVED_FILTER_NOT_FOUND");
    return {};
  },
};

/**
 * Checks that a role permits sharing filters and changing shared ones.
 *
 * @throws Refusal FIELD_INVALID
 */
function assertMayShare(role: MemberRole): void {
  if (role !== "viewer") return;
  throw invalidField("shared", "requires the role member in the workspace. Your role is viewer.");
}

/**
 * Returns the requested workspace of the session and the person's role in it.
 *
 * @throws Refusal NOT_A_MEMBER
 */
async function membershipOf(
  em: EntityManager,
  { personId, sessionId, boundTo }: SignedInPerson,
  sent: bigint | undefined,
): Promise<{ readonly workspace: number; readonly role: MemberRole }> {
  const workspace = readRecordId(sent) ?? 0;
  const [found] = await runStatement<{ role: MemberRole }>(
    em,
    `select role from membership
     where person_id = $1 and workspace_id = $2 and workspace_id = coalesce($3::bigint, workspace_id)
       and not exists (select from session where id = $4 and $2 = any (left_workspaces))`,
    [personId, workspace, boundTo, sessionId],
  );
  if (found === undefined) throw refuse("NOT_A_MEMBER");
  return { workspace, role: found.role };
}

/** Like `membershipOf`, and also locks the workspace's members and filters. */
function lockMembership(em: EntityManager, caller: SignedInPerson, sent: bigint | undefined) {
  return lockMembers(em, readRecordId(sent) ?? 0, () => membershipOf(em, caller, sent));
}

function filterMessage({ id, sharedBy, ...row }: FilterRow): SavedFilterMessage {
  return create(SavedFilterSchema, { ...row, id: BigInt(id), sharedBy: sharedBy ?? undefined });
}
