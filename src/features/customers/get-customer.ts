import { create } from "@bufbuild/protobuf";
import {
  GetCustomerResponseSchema,
  type GetCustomerRequestValid,
  type GetCustomerResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../domain/record-id.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer-message.ts";
import { Customer } from "./customer.entity.ts";

/**
 * Gives one customer of the workspace.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, the same for an unknown customer and one of another workspace
 */
export async function getCustomer(
  request: GetCustomerRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<GetCustomerResponse> {
  const id = readRecordId(request.customer) ?? 0;
  const customer = await em.fork().findOne(Customer, { workspace: caller.workspaceId, id });
  if (customer === null) throw refuse("CUSTOMER_NOT_FOUND", "There is no such customer.");
  return create(GetCustomerResponseSchema, { data: customerMessage(customer) });
}
