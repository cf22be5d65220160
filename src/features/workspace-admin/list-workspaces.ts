import type { MessageInitShape } from "@bufbuild/protobuf";
import { raw, type FilterQuery } from "@mikro-orm/core";
import type {
  ListWorkspacesRequest,
  ListWorkspacesResponseSchema,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { readInOrder } from "../../db/transaction.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { loadAdminWorkspaces } from "./admin-workspaces.ts";

interface Position {
  readonly name: string;
  readonly id: number;
}

/**
 * Selects live workspaces. The expression prevents PostgreSQL from using the index on twins, in which half of all
 * entries are null.
 */
const IS_LIVE: FilterQuery<Workspace> = { [raw("coalesce(twin_of, 0)")]: 0 };

export async function listWorkspaces(
  request: ListWorkspacesRequest,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<MessageInitShape<typeof ListWorkspacesResponseSchema>> {
  const { nameContains, suspended } = request;
  const page = readPage(request, { list: "workspaces", nameContains, suspended }, readPosition);
  const filters: FilterQuery<Workspace>[] = [IS_LIVE];
  if (nameContains !== undefined) filters.push({ name: { $ilike: `%${literal(nameContains)}%` } });
  if (suspended !== undefined) filters.push({ suspendedAt: suspended ? { $ne: null } : null });
  if (page.after !== undefined) filters.push(isAfter(page.after));
  const orderBy = { name: "asc", id: "asc" } as const;
  const found = await readInOrder(em, (tx) => tx.find(Workspace, { $and: filters }, { orderBy, limit: page.limit }));
  const { rows, nextPageToken } = endPage(found, page, ({ name, id }) => [name, id]);
  const data = await loadAdminWorkspaces(em.fork(), rows);
  return { data, nextPageToken };
}

function isAfter({ name, id }: Position): FilterQuery<Workspace> {
  return { name: { $gte: name }, $or: [{ name: { $gt: name } }, { id: { $gt: id } }] };
}

function literal(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

function readPosition([name, id]: readonly unknown[]): Position | undefined {
  if (typeof name !== "string" || !Number.isSafeInteger(id)) return undefined;
  // No workspace name contains text that PostgreSQL cannot store.
  if (name.includes("\0") || !name.isWellFormed()) return undefined;
  return { name, id: id as number };
}
