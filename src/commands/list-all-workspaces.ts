import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  ListWorkspaceApiKeysRequestSchema,
  ListWorkspacesRequestSchema,
  type AdminWorkspace,
} from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { ApiKeyScope } from "../../gen/shipments/v1/api_key_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { MAX_PAGE_SIZE } from "../domain/limits.ts";
import { listWorkspaceApiKeys } from "../features/workspace-admin/list-workspace-api-keys.ts";
import { listWorkspaces } from "../features/workspace-admin/list-workspaces.ts";
import { readRequest } from "./read-request.ts";

/** A workspace and its keys that work, the oldest first. */
export interface ListedWorkspace {
  readonly workspace: AdminWorkspace;
  readonly keys: readonly {
    readonly name: string | null;
    readonly last4: string;
    readonly isReadOnly: boolean;
    readonly endsAt: Date | null;
  }[];
}

/** Lists every workspace, the oldest first. */
export async function listAllWorkspaces(em: EntityManager): Promise<ListedWorkspace[]> {
  const workspaces: AdminWorkspace[] = [];
  let pageToken: string | undefined;
  do {
    const fields = { pageSize: MAX_PAGE_SIZE, pageToken };
    const page = await listWorkspaces(readRequest(ListWorkspacesRequestSchema, fields), em);
    workspaces.push(...page.data);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  const listed: ListedWorkspace[] = [];
  for (const workspace of workspaces.toSorted((one, other) => Number(one.id - other.id))) {
    const request = readRequest(ListWorkspaceApiKeysRequestSchema, { workspace: workspace.id });
    const { data } = await listWorkspaceApiKeys(request, em);
    const keys = data.map(({ name = null, last4, scope, endsAt }) => ({
      name,
      last4,
      isReadOnly: scope === ApiKeyScope.READ_ONLY,
      endsAt: endsAt === undefined ? null : timestampDate(endsAt),
    }));
    listed.push({ workspace, keys });
  }
  return listed;
}
