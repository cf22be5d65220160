import { create } from "@bufbuild/protobuf";
import {
  type GetCustomerRequestValid,
  type GetCustomerResponse,
  GetCustomerResponseSchema,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { readRecordId } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { mergedWithId } from "./customer-alias.entity.ts";
import type { CustomerDeps } from "./customer-figures.ts";
import {
  type CustomerRecord,
  customerRecordJson,
  customerRecordMessage,
} from "./customer.entity.ts";

/**
 * Gives one customer of the workspace; by the id of one that was merged, the one it was merged into.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND
 */
export async function getCustomer(
  request: GetCustomerRequestValid,
  { caller: { workspaceId } }: Call,
  { em, loadCustomerFigures }: CustomerDeps,
): Promise<GetCustomerResponse> {
  const customer = await findCustomer(em, workspaceId, request.customer);
  const figures = await loadCustomerFigures(em, workspaceId, [customer.id]);
  const data = customerRecordMessage(customer, figures.get(customer.id));
  return create(GetCustomerResponseSchema, { data });
}

/** How to lock a row: so that shipments of the customer can be booked meanwhile, or not. */
export type CustomerLock = "no key update" | "update";

/** How often a customer is looked for that is merged meanwhile. */
const MAX_TRIES = 3;

/**
 * A customer of the workspace, or the one that it was merged into, with its row locked if `lock` is given.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, the same for an unknown customer and one of another workspace
 */
export async function findCustomer(
  em: EntityManager,
  workspace: number,
  named: bigint,
  lock?: CustomerLock,
): Promise<CustomerRecord> {
  let id = readRecordId(named) ?? 0;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const customer = await findUnmerged(em, workspace, id, lock);
    if (customer !== undefined) return customer;
    const [merged] = await select(em, FIND_MERGED, workspace, id);
    if (merged === undefined) break;
    if (lock === undefined) return merged;
    id = merged.id;
  }
  throw refuse("CUSTOMER_NOT_FOUND");
}

/** A customer of the workspace by its own id. */
export async function findUnmerged(
  em: EntityManager,
  workspace: number,
  id: number,
  lock?: CustomerLock,
): Promise<CustomerRecord | undefined> {
  const sql = lock === undefined ? FIND : `${FIND} for ${lock}`;
  return (await select(em, sql, workspace, id))[0];
}

async function select(em: EntityManager, sql: string, workspace: number, id: number) {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, sql, [workspace, id]);
  return rows.map(({ customer }) => customer);
}

const FIND = `select ${customerRecordJson("customer")} as customer from customer
  where workspace_id = $1 and id = $2`;
const FIND_MERGED = mergedWithId("$2", customerRecordJson("customer"));
