import { create } from "@bufbuild/protobuf";
import {
  ListCustomersResponseSchema,
  type ListCustomersRequestValid,
  type ListCustomersResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  DEFAULT_PAGE_SIZE,
  invalidPageToken,
  readPageToken,
  writePageToken,
} from "../../domain/page-token.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer-message.ts";
import { Customer } from "./customer.entity.ts";

/**
 * Lists customers of the workspace, the newest first.
 *
 * @throws Refusal FIELD_INVALID for a page token of other filters, or that is none
 */
export async function listCustomers(
  request: ListCustomersRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<ListCustomersResponse> {
  const workspace = caller.workspaceId;
  const filters = { workspace, emailLower: request.email?.toLowerCase() };
  const before =
    request.pageToken === undefined ? undefined : readPosition(request.pageToken, filters);
  const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE;
  const found = await em.fork().find(
    Customer,
    {
      workspace,
      ...(filters.emailLower === undefined ? {} : { emailLower: filters.emailLower }),
      ...(before === undefined ? {} : { id: { $lt: before } }),
    },
    { orderBy: { id: "desc" }, limit: pageSize + 1 },
  );
  const page = found.slice(0, pageSize);
  const last = found.length > pageSize ? page.at(-1) : undefined;
  return create(ListCustomersResponseSchema, {
    data: page.map(customerMessage),
    nextPageToken: last === undefined ? "" : writePageToken([last.id], filters),
  });
}

/** The id that a page's customers come before. */
function readPosition(token: string, filters: object): number {
  const [id] = readPageToken(token, filters) ?? [];
  if (!Number.isSafeInteger(id)) throw invalidPageToken();
  return id as number;
}
