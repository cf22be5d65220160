import { create } from "@bufbuild/protobuf";
import {
  ListCustomersResponseSchema,
  type ListCustomersRequestValid,
  type ListCustomersResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { endPage, readPage } from "../../domain/page-token.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer-message.ts";
import { Customer } from "./customer.entity.ts";

/**
 * Lists customers of the workspace, newest first, or those with an email in whatever case.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with this filter
 */
export async function listCustomers(
  request: ListCustomersRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<ListCustomersResponse> {
  const workspace = caller.workspaceId;
  const filters = { workspace, emailLower: request.email?.toLowerCase() };
  const page = readPage(request, filters, readId);
  const found = await em.fork().find(
    Customer,
    {
      workspace,
      ...(filters.emailLower === undefined ? {} : { emailLower: filters.emailLower }),
      ...(page.after === undefined ? {} : { id: { $lt: page.after } }),
    },
    { orderBy: { id: "desc" }, limit: page.limit },
  );
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  return create(ListCustomersResponseSchema, { data: rows.map(customerMessage), nextPageToken });
}

function readId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
