import { create } from "@bufbuild/protobuf";
import {
  GetCustomerResponseSchema,
  type GetCustomerRequestValid,
  type GetCustomerResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer-message.ts";
import { findCustomer } from "./find-customer.ts";

/**
 * Gives one customer of the workspace.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND
 */
export async function getCustomer(
  request: GetCustomerRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<GetCustomerResponse> {
  const customer = await findCustomer(em.fork(), caller.workspaceId, request.customer);
  return create(GetCustomerResponseSchema, { data: customerMessage(customer) });
}
