import type { CustomerFigures } from "../../../gen/shipments/v1/customer_pb.js";
import type { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { columnsOf, readRecordId, rowValues } from "../../db/columns.ts";
import { isUniqueViolation } from "../../db/database-error.ts";
import type { RecordOf } from "../../json/records.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { mergedWithId } from "./customer-alias.entity.ts";
import { Customer, type CustomerRecord, customerRecordJson } from "./customer.entity.ts";
import { foldEmail } from "./link-customers.ts";

export interface CustomerDeps {
  readonly em: EntityManager;
  /** Loads the report totals of customers, by customer id. */
  readonly loadCustomerFigures: (
    em: EntityManager,
    workspace: number,
    customers: readonly number[],
  ) => Promise<ReadonlyMap<number, RecordOf<CustomerFigures>>>;
  /** Returns the currency of the tariff in force. `undefined` if none has been published. */
  readonly currencyInForce: () => string | undefined;
}

export type CustomerFunctions = Omit<ServiceFunctions<typeof CustomerService, Call, CustomerDeps>, "mergeCustomers">;

/** Row lock on a customer. Only `update` prevents bookings for the customer. */
export type CustomerLock = "no key update" | "update";

/** Maximum number of lookups. A customer can be merged between the lookup and the lock. */
const MAX_TRIES = 3;

/**
 * Finds a customer, or the customer into which it was merged. Locks the row if `lock` is given.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, also for a customer of another workspace
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
    const [merged] = await selectCustomers(em, FIND_MERGED, [workspace, id]);
    if (merged === undefined) break;
    if (lock === undefined) return merged;
    id = merged.id;
  }
  throw refuse("CUSTOMER_NOT_FOUND");
}

/** Finds a customer by id without following merges. */
export async function findUnmerged(
  em: EntityManager,
  workspace: number,
  id: number,
  lock?: CustomerLock,
): Promise<CustomerRecord | undefined> {
  const sql = lock === undefined ? FIND : `${FIND} for ${lock}`;
  return (await selectCustomers(em, sql, [workspace, id]))[0];
}

const FIND = `select ${customerRecordJson("customer")} as customer from customer
  where workspace_id = $1 and id = $2`;
const FIND_MERGED = mergedWithId("$2", customerRecordJson("customer"));

/**
 * Runs a query for customers.
 *
 * @param sql selects the column `customer`, as returned by `customerRecordJson`
 */
export async function selectCustomers(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<CustomerRecord[]> {
  const rows = await runStatement<{ customer: CustomerRecord }>(em, sql, values);
  return rows.map(({ customer }) => customer);
}

const WRITTEN = columnsOf(Customer, "workspace", "id", "createdAt");

const UPDATE = `
  update customer set ${WRITTEN.map(({ name }, i) => `${name} = $${i + 3}`).join(", ")}
  where workspace_id = $1 and id = $2`;

/**
 * Stores the changes of a locked customer. Returns the customer with the new version.
 *
 * @throws Refusal CUSTOMER_TAKEN
 */
export async function writeCustomer(
  tx: EntityManager,
  workspace: number,
  changed: CustomerRecord,
): Promise<CustomerRecord> {
  const after = { ...changed, version: changed.version + 1 };
  const row = { ...after, emailLower: foldEmail(after.email) };
  try {
    await runStatement(tx, UPDATE, [workspace, after.id, ...rowValues(WRITTEN, row)]);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw refuse("CUSTOMER_TAKEN");
  }
  return after;
}
