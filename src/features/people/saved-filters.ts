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
import { refuse } from "../../domain/refusal.ts";
import type { PersonCall, SignedInPerson } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";

interface FilterRow {
  readonly id: number;
  readonly name: string;
  readonly query: string;
}

const COLUMNS = "id::float8 as id, name, query";

/** The filters that a person has saved in the workspaces in which the session acts. */
export const SAVED_FILTER_FUNCTIONS: Pick<
  ServiceFunctions<typeof AccountService, PersonCall, DatabaseDeps>,
  "listSavedFilters" | "saveFilter" | "renameSavedFilter" | "deleteSavedFilter"
> = {
  async listSavedFilters(request, { caller }, { em }) {
    const workspace = await memberWorkspace(em, caller, request.workspace);
    const rows = await runStatement<FilterRow>(
      em,
      `select ${COLUMNS} from saved_filter where person_id = $1 and workspace_id = $2
       order by lower(name) limit ${MAX_SAVED_FILTERS}`,
      [caller.personId, workspace],
    );
    return { data: rows.map(filterMessage) };
  },

  /** Replaces the filter that had the name. */
  async saveFilter({ name, query, ...request }, { caller }, { em }) {
    const workspace = await memberWorkspace(em, caller, request.workspace, "for update");
    const [row] = await runStatement<FilterRow>(
      em,
      `insert into saved_filter (person_id, workspace_id, name, query)
       select $1, $2, $3, $4 where (
         select count(*) from saved_filter
         where person_id = $1 and workspace_id = $2 and lower(name) <> lower($3)
       ) < ${MAX_SAVED_FILTERS}
       on conflict (person_id, workspace_id, lower(name)) do update
         set name = excluded.name, query = excluded.query
       returning ${COLUMNS}`,
      [caller.personId, workspace, name, query],
    );
    if (row === undefined) throw refuse("SAVED_FILTER_LIMIT");
    return { data: filterMessage(row) };
  },

  async renameSavedFilter({ name, ...request }, { caller }, { em }) {
    const workspace = await memberWorkspace(em, caller, request.workspace);
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
    return { data: filterMessage(row) };
  },

  async deleteSavedFilter(request, { caller }, { em }) {
    const workspace = await memberWorkspace(em, caller, request.workspace);
    const rows = await runStatement(
      em,
      "delete from saved_filter where person_id = $1 and workspace_id = $2 and id = $3 returning 1",
      [caller.personId, workspace, readRecordId(request.savedFilter) ?? 0],
    );
    if (rows.length === 0) throw refuse("SAVED_FILTER_NOT_FOUND");
    return {};
  },
};

/**
 * The id of a workspace in which the session acts.
 *
 * @param lock so that of two changes at the same time the second sees what the first has left
 * @throws Refusal NOT_A_MEMBER
 */
async function memberWorkspace(
  em: EntityManager,
  { personId, sessionId, boundTo }: SignedInPerson,
  sent: bigint | undefined,
  lock: "" | "for update" = "",
): Promise<number> {
  const workspace = readRecordId(sent) ?? 0;
  const found = await runStatement(
    em,
    `select 1 from membership
     where person_id = $1 and workspace_id = $2 and workspace_id = coalesce($3::bigint, workspace_id)
       and not exists (select from session where id = $4 and $2 = any (left_workspaces)) ${lock}`,
    [personId, workspace, boundTo, sessionId],
  );
  if (found.length === 0) throw refuse("NOT_A_MEMBER");
  return workspace;
}

function filterMessage({ id, name, query }: FilterRow): SavedFilterMessage {
  return create(SavedFilterSchema, { id: BigInt(id), name, query });
}
