import { create } from "@bufbuild/protobuf";
import {
  ListCustomersResponseSchema,
  type ListCustomersRequestValid,
  type ListCustomersResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { endPage, readPage } from "../../pipeline/page.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer-message.ts";
import { Customer } from "./customer.entity.ts";
import { findByName } from "./find-by-name.ts";

/**
 * Lists customers of the workspace, newest first, or those with an email in whatever case; or by the
 * beginning of their names, in the order of what begins with it.
 *
 * @throws Refusal FIELD_INVALID for a page token that is not of a list with this filter
 */
export async function listCustomers(
  request: ListCustomersRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<ListCustomersResponse> {
  const workspace = caller.workspaceId;
  const { name } = request;
  const filters = { workspace, emailLower: request.email?.toLowerCase(), name };
  const page = readPage(request, filters, readId);
  const { after, limit } = page;
  const { emailLower } = filters;
  const found: readonly Pick<Customer, "id" | "name" | "email" | "idNumber">[] =
    name === undefined
      ? await em.fork().find(
          Customer,
          {
            workspace,
            ...(emailLower === undefined ? {} : { emailLower }),
            ...(after === undefined ? {} : { id: { $lt: after } }),
          },
          { orderBy: { id: "desc" }, limit },
        )
      : await findByName(em, { workspace, name, emailLower, after, limit });
  const { rows, nextPageToken } = endPage(found, page, ({ id }) => [id]);
  return create(ListCustomersResponseSchema, { data: rows.map(customerMessage), nextPageToken });
}

function readId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}
