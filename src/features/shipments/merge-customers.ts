import type { CustomerService, MergeCustomersRequestValid } from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { invalidField, Refusal, refuse, unavailable } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { aroundTransaction, type ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { type CustomerRecord, customerRecordMessage } from "../customers/customer.entity.ts";
import {
  type CustomerDeps,
  type CustomerLock,
  findCustomer,
  findUnmerged,
  writeCustomer,
} from "../customers/customers.ts";
import { foldEmail } from "../customers/link-customers.ts";

/** Maximum number of shipments that a merge moves. Limits how long their locks are held. */
const MAX_MOVED = 10_000;
const MAX_MERGED = 1_000;
/** Maximum length of notes, as in `UpdateCustomer`. */
const MAX_NOTES = 2_000;
/** Maximum number of attempts if concurrent merges involve the same customers. */
const MAX_TRIES = 5;

/** Thrown if a concurrent call merged one of the customers. The transaction is rolled back and retried. */
class MergedMeanwhile extends Error {}

interface Merge {
  readonly survivor: CustomerRecord;
  readonly merged: CustomerRecord;
}

/**
 * Merges a customer into another customer: moves its shipments, creates an alias and deletes it.
 *
 * A concurrent booking locks the customer until its commit, so the merge also moves its shipment. A booking that starts
 * later violates its foreign key, retries, and finds the alias. Emits no event, like all customer changes.
 */
export const mergeCustomers: MergeFunctions["mergeCustomers"] = aroundTransaction(
  async (request, call, { now }, transact) => {
    const { workspaceId } = call.caller;
    if (request.customer === request.from) {
      throw invalidField("from", "must be another customer.");
    }
    return tryAgain(() =>
      transact(async (deps) => {
        // First, so that the call waits for a count before it locks customers and shipments.
        await deps.holdCustomerCounts(deps.em, workspaceId);
        const found = await lockBoth(deps.em, workspaceId, request);
        const survivor = "merged" in found ? await merge(deps, call, found, now()) : found.survivor;
        const figures = await deps.loadCustomerFigures(deps.em, workspaceId, [survivor.id]);
        return { data: customerRecordMessage(survivor, figures.get(survivor.id)) };
      }),
    );
  },
);

interface MergeDeps extends CustomerDeps {
  readonly now: () => Date;
  /** Prevents the roll-up from counting the figures by which lists sort customers, until the commit. */
  readonly holdCustomerCounts: (tx: EntityManager, workspace: number) => Promise<void>;
  /** Counts these figures again. */
  readonly countCustomers: (tx: EntityManager, workspace: number, customers: readonly number[]) => Promise<void>;
}

type MergeFunctions = ServiceFunctions<typeof CustomerService, Call, MergeDeps>;

async function tryAgain<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof MergedMeanwhile)) throw error;
      if (tries === MAX_TRIES) throw unavailable("The customers are being merged. Try again.");
    }
  }
}

/** Locks both customers in the order of their ids. Returns only the surviving customer if they were already merged. */
async function lockBoth(
  tx: EntityManager,
  workspace: number,
  request: MergeCustomersRequestValid,
): Promise<Merge | Pick<Merge, "survivor">> {
  const survivor = await findCustomer(tx, workspace, request.customer);
  const merged = await findMerged(tx, workspace, request.from);
  if (survivor.id === merged.id) return { survivor };
  // Locking the merged customer for update blocks bookings for it.
  const locks: [number, CustomerLock][] = [
    [survivor.id, "no key update"],
    [merged.id, "update"],
  ];
  const locked = new Map<number, CustomerRecord>();
  for (const [id, lock] of locks.toSorted(([a], [b]) => a - b)) {
    const found = await findUnmerged(tx, workspace, id, lock);
    if (found === undefined) throw new MergedMeanwhile();
    locked.set(id, found);
  }
  return { survivor: locked.get(survivor.id)!, merged: locked.get(merged.id)! };
}

async function findMerged(tx: EntityManager, workspace: number, from: bigint) {
  try {
    return await findCustomer(tx, workspace, from);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw invalidField("from", "is not a customer of the workspace.");
  }
}

const COUNT_UP_TO = (found: string, limit: number) =>
  `select count(*)::int as count from (${found} limit ${limit + 1}) as found`;

const OF_CUSTOMER = "from shipment where workspace_id = $1 and customer_id = $2";

const COUNT_SHIPMENTS = COUNT_UP_TO(`select ${OF_CUSTOMER}`, MAX_MOVED);

const COUNT_ALIASES = COUNT_UP_TO(
  "select from customer_alias where workspace_id = $1 and customer_id = any ($2::bigint[])",
  MAX_MERGED,
);

/** Locks shipments in the same order as shipment changes do, to avoid deadlocks. */
const LOCK_SHIPMENTS = `select count(*) from (
  select reference ${OF_CUSTOMER} order by reference for no key update) as locked`;

const MOVE_SHIPMENTS = `update shipment set customer_id = $3
  where workspace_id = $1 and customer_id = $2`;

const MOVE_ALIASES = `update customer_alias set customer_id = $3
  where workspace_id = $1 and customer_id = $2`;

const ADD_ALIAS = `
  insert into customer_alias (workspace_id, id, customer_id, name, email_lower, merged_at)
  values ($1, $2, $3, $4, $5, $6)`;

const DELETE = "delete from customer where workspace_id = $1 and id = $2";

async function merge(
  { em: tx, countCustomers }: Pick<MergeDeps, "em" | "countCustomers">,
  call: Call,
  { survivor, merged }: Merge,
  at: Date,
): Promise<CustomerRecord> {
  const { workspaceId } = call.caller;
  const both = [workspaceId, merged.id, survivor.id];
  const shipments = await count(tx, COUNT_SHIPMENTS, [workspaceId, merged.id]);
  assertAtMost(shipments, MAX_MOVED, "shipments. Merge the other customer into it instead");
  const aliases = await count(tx, COUNT_ALIASES, [workspaceId, [survivor.id, merged.id]]);
  assertAtMost(aliases + 1, MAX_MERGED, "customers merged into it or into the other one");
  const filled = fillFrom(survivor, merged);
  await runStatement(tx, LOCK_SHIPMENTS, [workspaceId, merged.id]);
  await runStatement(tx, MOVE_SHIPMENTS, both);
  await runStatement(tx, MOVE_ALIASES, both);
  await runStatement(tx, ADD_ALIAS, [...both, merged.name, foldEmail(merged.email), at]);
  await runStatement(tx, DELETE, [workspaceId, merged.id]);
  await countCustomers(tx, workspaceId, [survivor.id]);
  recordChange(tx, call, {
    subject: `customer/${survivor.id}`,
    workspaceId,
    // Omits names and emails, because the audit log is never deleted.
    changes: changesBetween({}, { merged_customer: merged.id, moved_shipments: shipments }),
  });
  return writeCustomer(tx, workspaceId, filled);
}

async function count(tx: EntityManager, sql: string, values: readonly unknown[]): Promise<number> {
  const [row] = await runStatement<{ count: number }>(tx, sql, values);
  return row!.count;
}

function assertAtMost(found: number, limit: number, what: string): void {
  if (found > limit) {
    throw notMergeable(`The customer to merge has more than ${limit.toLocaleString("en")} ${what}.`);
  }
}

function notMergeable(text: string): Refusal {
  return refuse("CUSTOMER_NOT_MERGEABLE", text, { subject: "from" });
}

/** Returns the surviving customer with missing fields filled in from the merged customer. */
function fillFrom(survivor: CustomerRecord, merged: CustomerRecord): CustomerRecord {
  const notes = new Set([survivor.notes, merged.notes].filter((text) => text !== null));
  const joined = [...notes].join("\n\n");
  if (Array.from(joined).length > MAX_NOTES) {
    throw notMergeable(
      `The notes of both customers have more than ${MAX_NOTES.toLocaleString("en")} characters in total. Shorten them first.`,
    );
  }
  return {
    ...survivor,
    idNumber: survivor.idNumber ?? merged.idNumber,
    phone: survivor.phone ?? merged.phone,
    notes: joined || null,
    defaultPickup: survivor.defaultPickup ?? merged.defaultPickup,
    defaultDropoff: survivor.defaultDropoff ?? merged.defaultDropoff,
    // The next version must differ from all earlier etags of both customers.
    version: Math.max(survivor.version, merged.version),
  };
}
