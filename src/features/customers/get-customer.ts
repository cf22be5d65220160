import { create } from "@bufbuild/protobuf";
import {
  type GetCustomerRequestValid,
  type GetCustomerResponse,
  GetCustomerResponseSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { customerMessage, Customer } from "./customer.entity.ts";

/**
 * Gives one customer of the workspace.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND
 */
export async function getCustomer(
  request: GetCustomerRequestValid,
  { caller }: Call,
  { em }: DatabaseDeps,
): Promise<GetCustomerResponse> {
  const customer = await findCustomer(em.fork(), caller.workspaceId, request.customer);
  return create(GetCustomerResponseSchema, { data: customerMessage(customer) });
}

/**
 * A customer of the workspace, with its row locked if `lock` is given.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, the same for an unknown customer and one of another workspace
 */
export async function findCustomer(
  em: EntityManager,
  workspace: number,
  named: bigint,
  lock?: "lock",
): Promise<Customer> {
  const id = readRecordId(named) ?? 0;
  if (lock !== undefined) await runStatement(em, LOCK_CUSTOMER, [workspace, id]);
  const found = await em.findOne(Customer, { workspace, id });
  if (found === null) throw refuse("CUSTOMER_NOT_FOUND");
  return found;
}

/** `no key update`, so that shipments of the customer can be booked meanwhile. */
const LOCK_CUSTOMER = "select from customer where workspace_id = $1 and id = $2 for no key update";
