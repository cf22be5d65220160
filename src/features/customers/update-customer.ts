import { create } from "@bufbuild/protobuf";
import {
  CustomerService,
  UpdateCustomerResponseSchema,
  type UpdateCustomerRequestValid,
  type UpdateCustomerResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { isUniqueViolation } from "../../db/database-error.ts";
import type { DatabaseDeps } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage } from "./customer.entity.ts";
import { findCustomer } from "./get-customer.ts";
import { foldEmail } from "./link-customers.ts";

/**
 * Changes the name, email or id number of a customer, as far as given.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, CUSTOMER_TAKEN when another customer has the name and email
 */
export function updateCustomer(
  request: UpdateCustomerRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<UpdateCustomerResponse> {
  const { workspaceId } = call.caller;
  const method = CustomerService.method.updateCustomer;
  return withIdempotency(em, method, request, call, async (tx) => {
    const customer = await findCustomer(tx, workspaceId, request.customer, "lock");
    customer.name = request.name ?? customer.name;
    customer.email = request.email ?? customer.email;
    customer.emailLower = foldEmail(customer.email);
    if (request.idNumber !== undefined) customer.idNumber = request.idNumber || null;
    try {
      await tx.flush();
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw refuse("CUSTOMER_TAKEN");
    }
    return create(UpdateCustomerResponseSchema, { data: customerMessage(customer) });
  });
}
